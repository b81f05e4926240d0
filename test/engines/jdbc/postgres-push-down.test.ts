import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { createWarehouse, type WarehouseFixture } from '../batch/postgres-fixture.js';
import { JdbcFixture } from './jdbc-fixture.js';

let warehouse: WarehouseFixture;
const jdbc = new JdbcFixture('postgres', 'mart.t', () => warehouse.target);

beforeAll(async () => {
  warehouse = await createWarehouse();
});
afterAll(() => warehouse.close());
beforeEach(async () => {
  await warehouse.client.query(`
    DROP SCHEMA IF EXISTS mart CASCADE; CREATE SCHEMA mart;
    DROP TABLE IF EXISTS orders, customers, numbers;
    CREATE TABLE orders (id int PRIMARY KEY, customer int, amount numeric(10,2), at date);
    CREATE TABLE customers (id int PRIMARY KEY, name text, at date);
    INSERT INTO orders VALUES (1, 1, 10.50, '2026-01-01'), (2, 1, 4, '2026-01-02'), (3, 2, 7, NULL), (4, 9, 1, '2026-01-04');
    INSERT INTO customers VALUES (1, 'Ada', '2020-01-01'), (2, 'Żaneta', '2021-01-01')`);
});

const rows = (table = 'mart.t', order = '1') => warehouse.rows(`SELECT * FROM ${table} ORDER BY ${order}`);

describe('a graph pushed down to PostgreSQL', () => {
  beforeEach(() => jdbc.nextRun());

  it.each<[string, object, string[], object[]]>([
    [
      'sql',
      { type: 'sql', sql: 'SELECT id, amount * 2 AS twice FROM Orders WHERE id < 3' },
      ['orders'],
      [
        { id: 1, twice: '21.00' },
        { id: 2, twice: '8.00' },
      ],
    ],
    [
      'filter',
      { type: 'filter', where: 'at IS NULL -- no date' },
      ['orders'],
      [{ id: 3, customer: 2, amount: '7.00', at: null }],
    ],
    [
      'rename',
      { type: 'rename', columns: { id: 'Number' }, keepOnlyNamed: true },
      ['customers'],
      [{ Number: 1 }, { Number: 2 }],
    ],
    [
      'deduplicate',
      { type: 'deduplicate', keys: ['customer'], orderBy: ['amount DESC'] },
      ['orders'],
      [
        { id: 1, customer: 1, amount: '10.50', at: expect.anything() },
        { id: 3, customer: 2, amount: '7.00', at: null },
        { id: 4, customer: 9, amount: '1.00', at: expect.anything() },
      ],
    ],
    [
      'aggregate',
      { type: 'aggregate', groupBy: ['customer'], measures: { total: 'sum(amount)', n: 'count(*)::int' } },
      ['orders'],
      [
        { customer: 1, total: '14.50', n: 2 },
        { customer: 2, total: '7.00', n: 1 },
        { customer: 9, total: '1.00', n: 1 },
      ],
    ],
    [
      'left join',
      { type: 'join', how: 'LEFT', on: { customer: 'id' } },
      ['orders', 'customers'],
      [
        expect.objectContaining({ id: 1, right_id: 1, name: 'Ada' }),
        expect.objectContaining({ id: 2, name: 'Ada' }),
        expect.objectContaining({ id: 3, name: 'Żaneta', at: null, right_at: expect.anything() }),
        expect.objectContaining({ id: 4, right_id: null, name: null }),
      ] as object[],
    ],
    [
      'anti join',
      { type: 'join', how: 'ANTI', on: { customer: 'id' } },
      ['orders', 'customers'],
      [expect.objectContaining({ id: 4 })] as object[],
    ],
  ])('carries out %s inside the database', async (_, spec, inputs, expected) => {
    const sources = inputs.map((id) => jdbc.source(id));
    const outcome = await jdbc.push([
      ...sources,
      jdbc.transform('made', spec, inputs),
      jdbc.target('out', 'made'),
    ]);
    expect(outcome).toMatchObject({ rows: expected.length, output: 'mart.t' });
    expect(Object.keys(outcome.within ?? {})).toEqual([...inputs, 'made']);
    expect(await rows()).toEqual(expected);
  });

  it('upserts by key, and merges so that the table is what the input is', async () => {
    await warehouse.client.query(
      "CREATE TABLE mart.t (id int PRIMARY KEY, name text); INSERT INTO mart.t VALUES (1, 'old'), (7, 'kept')",
    );
    const graph = (mode: 'UPSERT' | 'MERGE') => [
      jdbc.source('customers'),
      jdbc.transform('named', { type: 'sql', sql: 'SELECT id, name FROM customers' }, ['customers']),
      jdbc.target('out', 'named', { mode, keys: ['id'] }),
    ];
    await jdbc.push(graph('UPSERT'));
    expect(await rows()).toEqual([
      { id: 1, name: 'Ada' },
      { id: 2, name: 'Żaneta' },
      { id: 7, name: 'kept' },
    ]);
    jdbc.nextRun();
    await jdbc.push(graph('MERGE'));
    expect(await rows()).toEqual([
      { id: 1, name: 'Ada' },
      { id: 2, name: 'Żaneta' },
    ]);
  });

  it('merges by a condition, and adds the column that the table lacks', async () => {
    await warehouse.client.query(
      "CREATE TABLE mart.t (id int PRIMARY KEY, old text); INSERT INTO mart.t VALUES (1, 'a'), (7, 'kept')",
    );
    const outcome = await jdbc.push([
      jdbc.source('customers'),
      jdbc.target('out', 'customers', {
        mode: 'MERGE',
        keys: ['id'],
        deleteWhen: "customers.name LIKE 'A%'",
      }),
    ]);
    expect(outcome.healing).toEqual([
      { strategy: 'WIDEN_TARGET', reason: expect.stringMatching(/name .*at/) },
    ]);
    expect(await rows()).toEqual([
      expect.objectContaining({ id: 2, old: null, name: 'Żaneta' }),
      { id: 7, old: 'kept', name: null, at: null },
    ]);
  });

  it('takes a table for itself even where a task has its name', async () => {
    await jdbc.push([
      jdbc.source('orders', { query: 'SELECT 5 AS id; -- one' }),
      jdbc.source('all', { query: 'SELECT id FROM orders' }),
      jdbc.transform(
        'both',
        { type: 'sql', sql: 'SELECT id FROM orders UNION ALL SELECT id FROM "all"; -- both\n' },
        ['orders', 'all'],
      ),
      jdbc.target('t', 'both', { table: 'numbers', mode: 'APPEND' }),
      jdbc.target('numbers', 'both', { mode: 'APPEND' }),
    ]);
    expect(await rows('numbers')).toHaveLength(5);
    expect(await rows()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }]);
  });

  it('reads what was there before the run, also where a target writes it', async () => {
    await warehouse.client.query(
      'CREATE TABLE mart.t (id int); INSERT INTO mart.t VALUES (1), (2); CREATE VIEW mart.seen AS SELECT * FROM mart.t',
    );
    await jdbc.push([
      jdbc.source('seen', { table: 'mart.seen' }),
      jdbc.transform('kept', { type: 'filter', where: 'id > 1' }, ['seen']),
      jdbc.target('out', 'kept'),
      jdbc.target('archive', 'seen', { table: 'mart.archive', mode: 'APPEND' }),
    ]);
    expect(await rows()).toEqual([{ id: 2 }]);
    expect(await rows('mart.archive')).toEqual([{ id: 1 }, { id: 2 }]);
    jdbc.nextRun();
    await jdbc.push([
      jdbc.source('seen', { table: 'mart.archive' }),
      jdbc.target('out', 'seen', { table: 'mart.archive', mode: 'APPEND' }),
    ]);
    expect(await rows('mart.archive')).toHaveLength(4);
  });

  it('replaces a table and keeps what it had in another, as it all was at one moment', async () => {
    await warehouse.client.query(
      'CREATE TABLE mart.t (id int); INSERT INTO mart.t VALUES (1); SELECT pg_advisory_lock(7)',
    );
    const pushed = jdbc.push([
      jdbc.source('fresh', { query: 'SELECT 5 AS id FROM pg_advisory_lock_shared(7)' }),
      jdbc.source('old', { table: 'mart.t' }),
      jdbc.target('replace', 'fresh'),
      jdbc.target('backup', 'old', { table: 'mart.archive' }),
    ]);
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await eventually(async () => (await warehouse.rows(waiting)).length > 0);
    await warehouse.client.query('INSERT INTO mart.t VALUES (2); SELECT pg_advisory_unlock(7)');
    await pushed;
    expect(await rows()).toEqual([{ id: 5 }]);
    expect(await rows('mart.archive')).toEqual([{ id: 1 }]);
  });

  it('makes a table once where several runs make it at once', async () => {
    await warehouse.client.query('DROP SCHEMA mart');
    const runs = Array.from({ length: 4 }, () => {
      jdbc.nextRun();
      return jdbc.push([jdbc.source('customers'), jdbc.target('out', 'customers', { mode: 'APPEND' })]);
    });
    expect((await Promise.all(runs)).map((outcome) => outcome.rows)).toEqual([2, 2, 2, 2]);
    expect(await rows()).toHaveLength(8);
  });

  it('writes all targets or none, and none of them twice', async () => {
    await warehouse.client.query('CREATE TABLE mart.second (id int CHECK (id < 2), name text)');
    const graph = (where: string) => [
      jdbc.source('customers'),
      jdbc.transform('named', { type: 'sql', sql: `SELECT id, name FROM customers WHERE ${where}` }, [
        'customers',
      ]),
      jdbc.target('first', 'named'),
      jdbc.target('second', 'named', { table: 'mart.second', mode: 'APPEND' }),
    ];
    await expect(jdbc.push(graph('true'))).rejects.toMatchObject({
      name: 'EngineError',
      kind: 'TARGET',
      taskId: 'second',
      message: expect.stringContaining('check constraint'),
    });
    expect(await warehouse.rows("SELECT to_regclass('mart.t') AS made")).toEqual([{ made: null }]);

    await jdbc.push(graph('id = 1'));
    expect(await jdbc.push(graph('id = 1'))).toMatchObject({ rows: 1, alreadyDone: true });
    expect(await rows('mart.second')).toEqual([{ id: 1, name: 'Ada' }]);
    expect(
      await warehouse.rows(
        `SELECT task_id, rows FROM opsgraph.load WHERE run_id = '${jdbc.runId}' ORDER BY 1`,
      ),
    ).toEqual([
      { task_id: 'first', rows: '1' },
      { task_id: 'second', rows: '1' },
    ]);
  });

  it.each([
    ['a second statement', 'SELECT 1 AS a; DROP TABLE orders', /syntax error|multiple commands/],
    ['a change', 'DELETE FROM orders RETURNING id', /syntax error/],
    [
      'a change in a common table expression',
      'WITH x AS (DELETE FROM orders RETURNING id) SELECT * FROM x',
      /data-modifying/,
    ],
    ['an unknown column', 'SELECT nobody FROM orders', /column "nobody" does not exist/],
  ])('refuses %s and names the task', async (_, sql, message) => {
    const graph = [
      jdbc.source('orders'),
      jdbc.transform('made', { type: 'sql', sql }, ['orders']),
      jdbc.target('out', 'made'),
    ];
    await expect(jdbc.push(graph)).rejects.toMatchObject({
      kind: 'SQL',
      taskId: 'made',
      message: expect.stringMatching(message),
    });
    expect(await rows('orders')).toHaveLength(4);
  });

  it('refuses a measure of several rows, and leaves the types of the others as they are', async () => {
    const graph = (x: string) => [
      jdbc.source('orders'),
      jdbc.transform('made', { type: 'aggregate', groupBy: ['customer'], measures: { x } }, ['orders']),
      jdbc.target('out', 'made'),
    ];
    await expect(jdbc.push(graph('generate_series(1, 2) + count(*)'))).rejects.toMatchObject({
      kind: 'SQL',
      taskId: 'made',
      message: 'measures: A set-returning function gives several rows, not one value.',
    });
    const { columns } = await jdbc.push(graph('max(amount)::numeric(9, 3)'));
    expect(columns?.[1]).toEqual({ name: 'x', type: 'numeric(9,3)' });
  });

  it('is interrupted by a cancel, and leaves the target as it was', async () => {
    await warehouse.client.query('CREATE TABLE mart.t (id bigint); INSERT INTO mart.t VALUES (1)');
    const cancel = new AbortController();
    const slow = { type: 'sql', sql: 'SELECT g AS id FROM orders, generate_series(1, 2000000000) AS g' };
    const pushed = jdbc.push(
      [jdbc.source('orders'), jdbc.transform('slow', slow, ['orders']), jdbc.target('out', 'slow')],
      { signal: cancel.signal },
    );
    pushed.catch(() => undefined);
    for (let found = false; !found; ) {
      const active = await warehouse.rows(
        "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CREATE TEMP TABLE%'",
      );
      found = active.length > 0;
    }
    cancel.abort();
    await expect(pushed).rejects.toMatchObject({ kind: 'CANCELLED' });
    expect(await rows()).toEqual([{ id: '1' }]);
  });
});
