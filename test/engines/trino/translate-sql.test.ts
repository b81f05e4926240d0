import { describe, expect, it } from '@jest/globals';
import { translateQuery } from '../../../src/engines/trino/translate-sql.js';

const ofDuckDb = async (sql: string) => translateQuery(sql, 'duckdb', { tasks: ['orders', 'Customers'] });
const ofPostgres = async (sql: string) =>
  translateQuery(sql, 'postgres', { catalog: 'shop', schema: 'public' });

describe('SQL for Trino', () => {
  it.each([
    ['SELECT id, at::DATE AS d FROM Orders', 'SELECT id, CAST("at" AS DATE) AS d FROM "orders"'],
    ['SELECT a / b AS c FROM orders', 'SELECT CAST(a AS DOUBLE) / NULLIF(b, 0) AS c FROM "orders"'],
    [
      'SELECT row_number() OVER (PARTITION BY a ORDER BY b DESC) AS n FROM orders',
      'SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC) AS n FROM "orders"',
    ],
    [
      "SELECT 1 FROM orders WHERE name ILIKE 'a%' -- )",
      `SELECT 1 FROM "orders" WHERE LOWER(name) LIKE LOWER('a%' /* ) */)`,
    ],
    [
      'WITH x AS (SELECT id FROM orders) SELECT id FROM x UNION ALL SELECT id FROM customers',
      'WITH x AS (SELECT id FROM "orders") SELECT id FROM x UNION ALL SELECT id FROM "customers"',
    ],
    [
      "SELECT strftime(at, '%Y-%m') AS m, list(id) AS l FROM orders GROUP BY 1",
      `SELECT DATE_FORMAT("at", '%Y-%m') AS m, ARRAY_AGG(id) AS l FROM "orders" GROUP BY 1`,
    ],
  ])('puts %s into its dialect', async (sql, expected) => {
    expect(await ofDuckDb(sql)).toBe(expected);
  });

  it('puts the tables of a source into its catalog', async () => {
    expect(await ofPostgres('SELECT o.id, c.* FROM orders o JOIN crm.customers c ON c.id = o.customer')).toBe(
      'SELECT o.id, c.* FROM "shop"."public"."orders" AS o JOIN "shop"."crm"."customers" AS c ON c.id = o.customer',
    );
  });

  it.each([
    ['another table', 'SELECT * FROM payroll', 'may not read "payroll"'],
    [
      'another catalog',
      'SELECT (SELECT max(pay) FROM hr.public.payroll) FROM orders',
      'may not read "hr.public.payroll"',
    ],
    [
      'a table in a WHERE',
      'SELECT 1 FROM orders WHERE id IN (SELECT id FROM system.runtime.queries)',
      'system.runtime.queries',
    ],
    [
      'a table of a join',
      'SELECT 1 FROM orders JOIN (customers JOIN payroll USING (id)) USING (id)',
      'payroll',
    ],
    [
      'the name of a WITH beside it',
      'SELECT * FROM (WITH p AS (SELECT 1) SELECT * FROM p) JOIN p ON true',
      'may not read "p"',
    ],
    ['a function of a connector', "SELECT * FROM TABLE(shop.system.query(query => 'DROP TABLE x'))", ''],
    [
      'a function in place of a table',
      "SELECT * FROM orders, read_csv('/etc/passwd')",
      'only tables and queries',
    ],
    ['a function in a join', "SELECT * FROM orders CROSS JOIN glob('*')", 'only tables and queries'],
    ['two statements', 'SELECT 1; DROP TABLE orders', 'one query'],
    ['a change', 'DELETE FROM orders', 'only reads'],
    ['a description', 'DESCRIBE orders', ''],
    ['text that breaks out of its parentheses', 'SELECT 1) SELECT 2 FROM (SELECT 3', ''],
    ['nothing', '-- nothing', ''],
    ['no SQL', 'SELEC 1', ''],
  ])('refuses %s', async (_, sql, message) => {
    await expect(ofDuckDb(sql)).rejects.toMatchObject({
      name: 'EngineError',
      kind: 'SQL',
      message: expect.stringContaining(message),
    });
  });

  it('refuses a source another catalog than its own', async () => {
    await expect(ofPostgres('SELECT * FROM hr.public.payroll')).rejects.toThrow(
      'may not read "hr.public.payroll"',
    );
  });
});
