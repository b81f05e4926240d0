import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PostgresSourceSpec, PostgresTargetSpec } from '../../../src/engines/task-spec.js';
import { openCuttableProxy } from '../../support/cuttable-proxy.js';
import { eventually } from '../../support/eventually.js';
import { type EngineFixture, execute, inline, openEngine, readParquet, sql } from './engine-fixture.js';
import { createWarehouse, type WarehouseFixture } from './postgres-fixture.js';

let engine: EngineFixture;
let warehouse: WarehouseFixture;
let number = 0;

const ROWS = [
  { id: 1, name: 'one' },
  { id: 2, name: '' },
  { id: 3, name: null },
];
beforeAll(async () => {
  [engine, warehouse] = await Promise.all([openEngine(), createWarehouse()]);
  engine.connections.set('dwh', warehouse.target);
  await engine.run('rows', inline(ROWS, { id: 'INTEGER', name: 'VARCHAR' }));
});
afterAll(async () => {
  await engine.close();
  await warehouse.close();
});
beforeEach(() => warehouse.client.query('DROP TABLE IF EXISTS t'));

function target(more: Partial<PostgresTargetSpec> = {}): PostgresTargetSpec {
  return {
    kind: 'target',
    type: 'postgres',
    connection: 'dwh',
    table: 't',
    mode: 'MERGE',
    keys: ['id'],
    ...more,
  };
}
const load = (spec: PostgresTargetSpec, input = 'rows') => engine.run(`t${++number}`, spec, [input]);
const table = () => warehouse.rows('SELECT * FROM t ORDER BY id');

async function oldTable(keys: string): Promise<void> {
  await warehouse.client.query(
    `CREATE TABLE t (id int${keys}, name text); INSERT INTO t VALUES (2, 'two'), (8, 'old')`,
  );
}

describe.each([' PRIMARY KEY', ''])('MERGE into a table whose key is int%s', (keys) => {
  it('makes the table what the input is', async () => {
    await oldTable(keys);
    if (!keys) await warehouse.client.query("INSERT INTO t VALUES (NULL, 'no key')");
    expect(await load(target())).toMatchObject({ rows: 3 });
    expect(await table()).toEqual(ROWS);
  });

  it('deletes what deleteWhen says, and nothing else', async () => {
    await oldTable(keys);
    await load(target({ deleteWhen: "name = '' OR rows.id = 3" }));
    expect(await table()).toEqual([
      { id: 1, name: 'one' },
      { id: 8, name: 'old' },
    ]);
  });
});

describe('MERGE', () => {
  it('makes a missing table, without what is to be deleted', async () => {
    await load(target({ deleteWhen: 'id > 1' }));
    expect(await table()).toEqual([ROWS[0]]);
  });

  it.each([
    ['true), (SELECT 1', /deleteWhen/],
    ['id', /deleteWhen must be one expression/],
    ["(SELECT count(*) FROM read_csv('/etc/passwd')) > 0", /subquery is not available/],
    ['true) FROM rows; DROP TABLE x; --', /deleteWhen/],
    ['nosuch > 1', /no column "nosuch"/],
  ])('refuses deleteWhen %s and leaves the table as it was', async (deleteWhen, message) => {
    await oldTable('');
    await expect(load(target({ deleteWhen }))).rejects.toMatchObject({
      name: 'EngineError',
      transient: false,
      message: expect.stringMatching(message),
    });
    expect(await table()).toHaveLength(2);
  });

  it('leaves the table as it was when the transaction fails behind its deletions', async () => {
    await oldTable(' PRIMARY KEY CHECK (id <> 3)');
    await expect(load(target())).rejects.toMatchObject({
      kind: 'TARGET',
      message: expect.stringContaining('check'),
    });
    expect(await table()).toHaveLength(2);
  });
});

describe('a column that the table lacks', () => {
  it.each(['APPEND', 'OVERWRITE', 'UPSERT', 'MERGE'] as const)(
    'is added by %s as nullable, and told',
    async (mode) => {
      await warehouse.client.query(
        "CREATE TABLE t (id int PRIMARY KEY, kept text DEFAULT 'd'); INSERT INTO t VALUES (9)",
      );
      const { keys, ...spec } = target({ mode });
      const outcome = await load(
        mode === 'UPSERT' || mode === 'MERGE' ? { ...spec, keys: keys ?? [] } : spec,
      );
      expect(outcome.healing).toEqual([
        { strategy: 'WIDEN_TARGET', reason: 'The table t lacked name (text): added as nullable.' },
      ]);
      const old = mode === 'OVERWRITE' || mode === 'MERGE' ? [] : [{ id: 9, kept: 'd', name: null }];
      expect(await table()).toEqual([...ROWS.map((row) => ({ ...row, kept: 'd' })), ...old]);
    },
  );

  it('is not added by a load that fails', async () => {
    await warehouse.client.query('CREATE TABLE t (id int CHECK (id < 3))');
    await expect(load(target({ mode: 'OVERWRITE' }))).rejects.toMatchObject({ kind: 'TARGET' });
    await warehouse.client.query('INSERT INTO t VALUES (1)');
    expect(await table()).toEqual([{ id: 1 }]);
  });

  it('is named when its type is another one', async () => {
    await oldTable('');
    await engine.run('wrong', sql("SELECT 'abc' AS id, 'x' AS name"));
    await expect(load(target(), 'wrong')).rejects.toMatchObject({
      kind: 'TARGET',
      message: expect.stringContaining('column id'),
    });
  });
});

describe('an incremental postgres source', () => {
  const source = (column: string, more = {}): PostgresSourceSpec => ({
    kind: 'source',
    type: 'postgres',
    connection: 'dwh',
    table: 'moving',
    incremental: { column, ...more },
  });
  beforeAll(() =>
    warehouse.client.query(`CREATE TABLE moving (id bigint, at timestamptz, name text, amount numeric);
      INSERT INTO moving VALUES (9007199254740993, '2024-01-01 00:00:00.000001Z', 'a', 1.10),
        (9007199254740994, '2024-01-01 00:00:00.000002Z', 'B', 1.11), (NULL, NULL, NULL, NULL)`),
  );

  it.each([
    ['id', '9007199254740993', '9007199254740994'],
    ['at', '2024-01-01 00:00:00.000001+00', '2024-01-01 00:00:00.000002+00'],
    ['name', 'B', 'a'],
    ['amount', '1.10', '1.11'],
  ])('reads strictly what is beyond %s', async (column, first, next) => {
    const spec = source(column);
    expect(await engine.execute({ id: `i${++number}`, inputs: [], spec })).toMatchObject({
      rows: 3,
      watermark: next,
    });
    const later = await engine.execute({ id: `i${++number}`, inputs: [], spec }, { watermark: first });
    expect(later).toMatchObject({ rows: 1, watermark: next });
    expect(await readParquet(later.output ?? '')).toHaveLength(1);
    const none = await engine.execute({ id: `i${++number}`, inputs: [], spec }, { watermark: next });
    expect(none.rows).toBe(0);
    expect(none).not.toHaveProperty('watermark');
  });

  it('starts from its initial value, and knows its column', async () => {
    const spec = source('id', { initial: 5 });
    expect(await engine.execute({ id: 'initial', inputs: [], spec })).toMatchObject({ rows: 2 });
    await expect(engine.run('wrong-column', source('zz'))).rejects.toMatchObject({
      message: expect.stringContaining('no column "zz"'),
    });
  });

  it.each([
    ['interval', "'1 day'", /"v" cannot be read incrementally.*VARCHAR/],
    ['jsonb', "'[1]'", /"v" cannot be read incrementally.*JSON/],
    ['int[]', "'{1}'", /"v" cannot be read incrementally.*JSON/],
    ['money', "'9'", /"v" cannot be read incrementally.*VARCHAR/],
    ['numeric', "'NaN'", /"v" cannot be read incrementally.*VARCHAR/],
    ['numeric', '1e40', /"v" cannot be read incrementally.*VARCHAR/],
    ['float8', "'NaN'", /"v" cannot be read incrementally: it holds nan/],
    ['real', "'Infinity'", /"v" cannot be read incrementally: it holds inf/],
    ['date', "'infinity'", /"v" cannot be read incrementally: it holds infinity/],
    ['timestamptz', "'infinity'", /"v" cannot be read incrementally: it holds infinity/],
  ])('refuses a column of type %s that holds %s', async (type, value, message) => {
    const { table: _, ...plain } = source('v');
    const spec = { ...plain, query: `SELECT (${value})::${type} AS v` };
    await expect(engine.run(`i${++number}`, spec)).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringMatching(message),
    });
  });

  it('goes by texts that are called like no number, and by what is before all others', async () => {
    const { table: _, ...plain } = source('v');
    for (const [value, watermark] of [
      ["'infinity'::text", 'infinity'],
      ["'-infinity'::timestamp", '-infinity'],
    ] as const) {
      const spec = { ...plain, query: `SELECT ${value} AS v` };
      expect(await engine.run(`i${++number}`, spec)).toMatchObject({ rows: 1, watermark });
    }
  });

  it('fails as DISK_FULL beyond the disk a run may use', async () => {
    const small = await engine.open({ spillLimitMb: 1 });
    const { incremental: _, table: _table, ...plain } = source('id');
    const spec = { ...plain, query: "SELECT repeat('x', 1000) AS a FROM generate_series(1, 2000)" };
    await expect(execute(small, { id: 'small', inputs: [], spec })).rejects.toMatchObject({
      kind: 'DISK_FULL',
    });
  });

  it('fails for now when its connection is cut', async () => {
    const proxy = await openCuttableProxy(`tcp://${warehouse.target.host}:${warehouse.target.port}`);
    engine.connections.set('cut', { ...warehouse.target, port: Number(new URL(proxy.url).port) });
    const spec = {
      kind: 'source',
      type: 'postgres',
      connection: 'cut',
      query: 'SELECT pg_sleep(20)::text AS a',
    } as const;
    const failed = expect(engine.run('cut', spec)).rejects.toMatchObject({
      kind: 'CONNECTION',
      transient: true,
    });
    const asleep =
      "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()";
    await eventually(async () => (await warehouse.rows(asleep)).length > 0);
    await proxy.cut();
    await failed;
  });
});
