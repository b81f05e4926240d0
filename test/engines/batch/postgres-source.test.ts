import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PostgresSourceSpec } from '../../../src/engines/task-spec.js';
import { eventually } from '../../support/eventually.js';
import { type EngineFixture, execute, openEngine, query, readParquet, sql } from './engine-fixture.js';
import { createWarehouse, type WarehouseFixture } from './postgres-fixture.js';

let engine: EngineFixture;
let warehouse: WarehouseFixture;
let number = 0;

beforeAll(async () => {
  engine = await openEngine();
  warehouse = await createWarehouse();
  engine.connections.set('erp', warehouse.target);
});
afterAll(async () => {
  await engine.close();
  await warehouse.close();
});

const from = (spec: { table: string } | { query: string }): PostgresSourceSpec => ({
  kind: 'source',
  type: 'postgres',
  connection: 'erp',
  ...spec,
});

async function read(spec: { table: string } | { query: string }) {
  const id = `s${++number}`;
  await engine.run(id, from(spec));
  return readParquet(join(engine.options.runDirectory, `${id}.parquet`));
}

/** One value of each column type with the DuckDB type and text it must have. */
const TYPES: [expression: string, type: string, text: string | null][] = [
  ['true', 'BOOLEAN', 'true'],
  ['1::smallint', 'SMALLINT', '1'],
  ['(-2147483648)::int', 'INTEGER', '-2147483648'],
  ['9223372036854775807::bigint', 'BIGINT', '9223372036854775807'],
  ['0.1::real', 'FLOAT', '0.1'],
  ['0.1::float8 + 0.2', 'DOUBLE', '0.30000000000000004'],
  ["'NaN'::float8", 'DOUBLE', 'nan'],
  ["'-Infinity'::float8", 'DOUBLE', '-inf'],
  ['12345678901234567890.123456789::numeric(38,9)', 'DECIMAL(38,9)', '12345678901234567890.123456789'],
  ['(-1.5)::numeric(4,2)', 'DECIMAL(4,2)', '-1.50'],
  ['123456789012345678901234567890.25::numeric', 'DECIMAL(38,2)', '123456789012345678901234567890.25'],
  ['1e40::numeric', 'VARCHAR', '10000000000000000000000000000000000000000'],
  ["'NaN'::numeric", 'VARCHAR', 'NaN'],
  ["''::text", 'VARCHAR', ''],
  ['NULL::text', 'VARCHAR', null],
  ["'\\N'::text", 'VARCHAR', '\\N'],
  [`E'a,"b"\\nc\\t\\\\'::text`, 'VARCHAR', 'a,"b"\nc\t\\'],
  ["'zażółć 🚀'::varchar(20)", 'VARCHAR', 'zażółć 🚀'],
  ["'a'::char(3)", 'VARCHAR', 'a'],
  ["'\\x00ff10'::bytea", 'BLOB', '\\x00\\xFF\\x10'],
  ["''::bytea", 'BLOB', ''],
  ["'2024-02-29'::date", 'DATE', '2024-02-29'],
  ["'0044-03-15 BC'::date", 'DATE', '0044-03-15 (BC)'],
  ["'infinity'::date", 'DATE', 'infinity'],
  ["'10:11:12.123456'::time", 'TIME', '10:11:12.123456'],
  ["'10:11:12+02'::timetz", 'VARCHAR', '10:11:12+02'],
  ["'2024-03-31 02:30:00.000001'::timestamp", 'TIMESTAMP', '2024-03-31 02:30:00.000001'],
  ["'2024-03-31 02:30:00+02'::timestamptz", 'TIMESTAMP WITH TIME ZONE', '2024-03-31 00:30:00+00'],
  ["'0044-03-15 10:00:00+00 BC'::timestamptz", 'TIMESTAMP WITH TIME ZONE', '0044-03-15 (BC) 10:00:00+00'],
  ["'-infinity'::timestamp", 'TIMESTAMP', '-infinity'],
  [
    "'-1 year -2 mons +3 days -04:05:06.5'::interval",
    'VARCHAR',
    '-14 months 3 days -14706500000 microseconds',
  ],
  ["'00000000-0000-4000-8000-000000000001'::uuid", 'UUID', '00000000-0000-4000-8000-000000000001'],
  [`'{"a": 1.10, "b": null}'::json`, 'JSON', '{"a": 1.10, "b": null}'],
  [`'{"a": [1, "x"]}'::jsonb`, 'JSON', '{"a": [1, "x"]}'],
  ['ARRAY[1, NULL, 3]', 'JSON', '[1,null,3]'],
  ["ARRAY[ARRAY['a'],ARRAY['b,\"c']]", 'JSON', '[["a"],["b,\\"c"]]'],
  ["'10.0.0.1'::inet", 'VARCHAR', '10.0.0.1/32'],
  ["'[1,5)'::int4range", 'VARCHAR', '[1,5)'],
];

describe('PostgreSQL sources', () => {
  it('keep every type exact', async () => {
    const list = TYPES.map(([expression], index) => `${expression} AS v${index}`).join(', ');
    await engine.run('types', from({ query: `SELECT ${list}` }));
    const path = join(engine.options.runDirectory, 'types.parquet');
    const described = await query(`SELECT column_type t FROM (DESCRIBE FROM read_parquet('${path}'))`);
    const texts = TYPES.map((_, index) => `v${index}::VARCHAR AS v${index}`).join(', ');
    const [row] = await query(`SELECT ${texts} FROM read_parquet('${path}')`);
    const got = TYPES.map(([expression], index) => [expression, described[index]?.['t'], row?.[`v${index}`]]);
    expect(got).toEqual(TYPES);
    expect(engine.logs.filter(({ level }) => level === 'WARN').map(({ message }) => message)).toEqual([
      expect.stringContaining('"v11"'),
      expect.stringContaining('"v12"'),
    ]);
  });

  it('read timestamps later than those of DuckDB as text, and only those', async () => {
    engine.logs.length = 0;
    const late = `SELECT '294276-12-31 23:59:59.999999'::timestamp AS a, 'infinity'::timestamp AS b, '5874897-12-31'::date AS d,
      now() AS now, '294276-12-31 00:00:00Z'::timestamptz AS z UNION ALL SELECT '0044-03-15 BC', NULL, NULL, NULL, NULL`;
    const outcome = await engine.run('late', from({ query: late }));
    expect(outcome.columns?.map(({ type }) => type)).toEqual([
      'VARCHAR',
      'TIMESTAMP',
      'DATE',
      'TIMESTAMP WITH TIME ZONE',
      'VARCHAR',
    ]);
    expect(await readParquet(outcome.output ?? '')).toMatchObject([
      { a: '294276-12-31 23:59:59.999999', d: '5874897-12-31', z: '294276-12-31 00:00:00+00' },
      { a: '0044-03-15 (BC) 00:00:00' },
    ]);
    expect(engine.logs.filter(({ level }) => level === 'WARN')).toEqual([
      { level: 'WARN', message: expect.stringMatching(/column "a" .* read as text/) },
      { level: 'WARN', message: expect.stringMatching(/column "z" .* read as text/) },
    ]);
    const spec = { ...from({ query: late }), incremental: { column: 'a' } };
    await expect(engine.run('late-watermark', spec)).rejects.toMatchObject({
      message: expect.stringContaining('"a" cannot be read incrementally'),
    });
  });

  it('read a table of a schema, null and empty apart', async () => {
    await warehouse.client.query(`CREATE SCHEMA "Sales"; CREATE TABLE "Sales"."Orders" ("Id" int, note text);
      INSERT INTO "Sales"."Orders" VALUES (1, NULL), (2, ''), (3, 'x')`);
    expect(await read({ table: 'Sales.Orders' })).toEqual([
      { Id: 1, note: null },
      { Id: 2, note: '' },
      { Id: 3, note: 'x' },
    ]);
  });

  it.each([
    'SELECT 1 AS a;',
    'SELECT 1 AS a ;\n ',
    "SELECT 1 AS a FROM (SELECT ';') AS x -- all;",
    'SELECT 1 AS a -- all',
    'SELECT 1 AS a; -- all',
    'SELECT 1 AS a;-- all; of it\n/* and /* more */ */\n',
    "SELECT 1 AS a /* it's */ ; -- isn't",
  ])('read %j', async (text) => {
    expect(await read({ query: text })).toEqual([{ a: 1 }]);
  });

  it('read a single column of nulls, an empty table and long values', async () => {
    expect(await read({ query: 'SELECT NULL::text AS a FROM generate_series(1, 3)' })).toEqual([
      { a: null },
      { a: null },
      { a: null },
    ]);
    expect(await read({ query: 'SELECT 1 AS a WHERE false' })).toEqual([]);
    await engine.run('long', from({ query: `SELECT repeat('x"', 5000000) AS a UNION ALL SELECT 'y'` }));
    const [row] = await query(
      `SELECT list(length(a)) AS l FROM read_parquet('${engine.options.runDirectory}/long.parquet')`,
    );
    expect(row).toEqual({ l: ['10000000', '1'] });
  });

  it('read many rows with line breaks in them', async () => {
    const spec = from({
      query: `SELECT i AS id, CASE WHEN i % 3 = 0 THEN E'line\\nbreak "' || i END AS note, i / 7.0 AS n FROM generate_series(1, 200000) i`,
    });
    expect(await engine.run('many', spec)).toMatchObject({ rows: 200_000 });
    const [row] = await query(
      `SELECT sum(id)::VARCHAR s, count(note) c, count(DISTINCT note) d FROM read_parquet('${engine.options.runDirectory}/many.parquet')`,
    );
    expect(row).toEqual({ s: '20000100000', c: '66666', d: '66666' });
    expect((await readdir(engine.options.runDirectory)).filter((name) => name.includes('csv'))).toEqual([]);
  });

  it.each<[string, string, RegExp]>([
    ['a second semicolon', 'SELECT 1;;', /syntax/],
    ['a second statement', 'SELECT 1; CREATE TABLE stolen (a int)', /multiple commands|syntax/],
    ['a second statement before a comment', 'SELECT 1; CREATE TABLE stolen (a int); -- all', /syntax/],
    ['what is a comment in MySQL alone', 'SELECT 1; # all', /syntax/],
    ['a comment that does not end', 'SELECT 1; /* all', /unterminated|syntax/],
    [
      'a statement that breaks out of parentheses',
      'SELECT 1) TO STDOUT; CREATE TABLE stolen (a int); --',
      /multiple commands|syntax/,
    ],
    [
      'a write',
      'WITH x AS (INSERT INTO victims VALUES (1) RETURNING *) SELECT * FROM x',
      /WITH clause containing a data-modifying|read-only/,
    ],
    ['a function that writes', 'SELECT lo_create(0)', /read-only/],
    ['an unknown table', 'SELECT * FROM nosuch', /relation "nosuch" does not exist/],
    ['two columns of one name', 'SELECT 1 AS a, 2 AS "A"', /named "A"/],
  ])('refuse %s', async (_, text, message) => {
    await warehouse.client.query('CREATE TABLE IF NOT EXISTS victims (a int)');
    await expect(read({ query: text })).rejects.toMatchObject({
      kind: 'SOURCE',
      transient: false,
      message: expect.stringMatching(message),
    });
    expect(
      await warehouse.rows("SELECT to_regclass('stolen') AS t, (SELECT count(*)::int FROM victims) AS n"),
    ).toEqual([{ t: null, n: 0 }]);
  });

  it('end on the server too when they are cancelled', async () => {
    const controller = new AbortController();
    const task = engine.run(
      'slow',
      from({ query: 'SELECT i, pg_sleep(60) FROM generate_series(1, 2) i' }),
      [],
      controller.signal,
    );
    const sleeping =
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'opsgraph' AND query LIKE 'COPY%pg_sleep%' AND state = 'active'";
    const count = async () => ((await warehouse.rows(sleeping)) as { n: number }[])[0]?.n;
    while ((await count()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const start = performance.now();
    controller.abort();
    await expect(task).rejects.toMatchObject({ kind: 'CANCELLED' });
    expect(performance.now() - start).toBeLessThan(1_000);
    while ((await count()) !== 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it.each([
    ['the task is cancelled', (controller: AbortController) => controller.abort()],
    ['the session is closed', () => undefined],
  ])('leave no statement on the server when %s and the engine process ends', async (_, stop) => {
    const session = await engine.open();
    const controller = new AbortController();
    // Without the interval a server never finds out by itself that its client is gone.
    const query = `SELECT set_config('client_connection_check_interval', '0', false), pg_sleep(61) FROM generate_series(1, 2)`;
    const task = { id: `s${++number}`, inputs: [], spec: from({ query }) };
    const running = execute(session, task, controller.signal).catch(() => undefined);
    const asleep = async () =>
      (
        await warehouse.rows(
          `SELECT FROM pg_stat_activity
           WHERE state = 'active' AND wait_event = 'PgSleep' AND query LIKE 'COPY%pg_sleep(61)%'`,
        )
      ).length > 0;
    await eventually(asleep);
    stop(controller);
    if (controller.signal.aborted) await running;
    await session.close();
    await eventually(async () => !(await asleep()), 5_000);
  });

  it.each([
    ['a port where nobody listens', { port: 1 }, true, /ECONNREFUSED/],
    ['a wrong password', { user: 'nobody', password: 'wrong-secret' }, false, /authentication|role/],
    ['a database that is not there', { database: 'nosuch' }, false, /does not exist/],
  ])('fail as CONNECTION for %s, without the password', async (_, change, transient, message) => {
    engine.connections.set('broken', { ...warehouse.target, ...change });
    const failure = await engine
      .run('broken', { ...from({ query: 'SELECT 1' }), connection: 'broken' })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'CONNECTION', transient, message: expect.stringMatching(message) });
    expect(String(failure)).not.toContain('wrong-secret');
  });

  it('feed a transformation', async () => {
    await engine.run('feed', from({ query: "SELECT 'PLN' AS c, 1.25 AS amount UNION ALL SELECT 'PLN', 2" }));
    await engine.run('sum', sql('SELECT c, sum(amount) AS total FROM feed GROUP BY c'), ['feed']);
    expect(await readParquet(join(engine.options.runDirectory, 'sum.parquet'))).toEqual([
      { c: 'PLN', total: '3.25' },
    ]);
  });
});
