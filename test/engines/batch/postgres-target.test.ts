import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PostgresTargetSpec } from '../../../src/engines/task-spec.js';
import { eventually } from '../../support/eventually.js';
import { type EngineFixture, execute, inline, openEngine, sql } from './engine-fixture.js';
import { engineProcesses } from './engine-processes.js';
import { createWarehouse, type WarehouseFixture } from './postgres-fixture.js';

let engine: EngineFixture;
let warehouse: WarehouseFixture;
let task = 0;

beforeAll(async () => {
  engine = await openEngine();
  warehouse = await createWarehouse();
  engine.connections.set('dwh', warehouse.target);
  await engine.run(
    'rows',
    inline([
      { id: 1, name: 'a "b",\n' },
      { id: 2, name: '' },
      { id: 3, name: null },
    ]),
  );
});
afterAll(async () => {
  await engine.close();
  await warehouse.close();
});
beforeEach(() => warehouse.client.query('DROP SCHEMA IF EXISTS mart CASCADE; CREATE SCHEMA mart'));

const WRITTEN = { rows: 3, output: 'mart.t' };
const ROWS = [
  { id: 1, name: 'a "b",\n' },
  { id: 2, name: '' },
  { id: 3, name: null },
];

function target(mode: PostgresTargetSpec['mode'], keys?: string[], table = 'mart.t'): PostgresTargetSpec {
  return { kind: 'target', type: 'postgres', connection: 'dwh', table, mode, ...(keys && { keys }) };
}

/** A new task each time: the same one would be recognised. */
function load(spec: PostgresTargetSpec, input = 'rows') {
  return engine.run(`load${++task}`, spec, [input]);
}

const table = () => warehouse.rows('SELECT * FROM mart.t ORDER BY id');

describe('PostgreSQL targets', () => {
  it('make the table, and its schema, with the types of the input', async () => {
    await warehouse.client.query('DROP SCHEMA mart');
    await engine.run(
      'typed',
      sql(`SELECT 1::SMALLINT i2, 2::INTEGER i4, 3::BIGINT i8, 4::HUGEINT h, 1.5::DECIMAL(10,2) d, 0.5::FLOAT f4, 'nan'::DOUBLE f8,
        true b, 'x' t, '\\x00\\xFF'::BLOB bin, DATE '2024-01-02' AS d1, TIME '10:11:12' AS clock, TIMESTAMP '2024-01-02 03:04:05.000006' AS ts,
        TIMESTAMPTZ '2024-01-02 03:04:05+02' AS tz, INTERVAL '14 months 3 days 5 seconds' AS iv, '00000000-0000-4000-8000-000000000001'::UUID AS u,
        [1, 2] l, {'a': 'x"y'} s, '{"k": 1}'::JSON j, DATE '0044-03-15 (BC)' AS bc`),
    );
    expect(await load(target('APPEND'), 'typed')).toMatchObject({ rows: 1, output: 'mart.t' });
    const types = (await warehouse.rows(
      "SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'mart.t'::regclass AND attnum > 0 ORDER BY attnum",
    )) as { attname: string; type: string }[];
    expect(types.map(({ attname, type }) => `${attname} ${type}`)).toEqual([
      'i2 smallint',
      'i4 integer',
      'i8 bigint',
      'h numeric(38,0)',
      'd numeric(10,2)',
      'f4 real',
      'f8 double precision',
      'b boolean',
      't text',
      'bin bytea',
      'd1 date',
      'clock time without time zone',
      'ts timestamp without time zone',
      'tz timestamp with time zone',
      'iv text',
      'u uuid',
      'l jsonb',
      's jsonb',
      'j jsonb',
      'bc date',
    ]);
    await warehouse.client.query("SET TimeZone = 'UTC'; SET IntervalStyle = 'postgres'");
    const [row] = (await warehouse.rows('SELECT ROW(m.*)::text AS row FROM mart.t m')) as { row: string }[];
    expect(row?.row).toBe(
      '(1,2,3,4,1.50,0.5,NaN,t,x,"\\\\x00ff",2024-01-02,10:11:12,"2024-01-02 03:04:05.000006","2024-01-02 01:04:05+00",' +
        '"1 year 2 months 3 days 00:00:05",00000000-0000-4000-8000-000000000001,"[1, 2]","{""a"": ""x\\\\""y""}","{""k"": 1}","0044-03-15 BC")',
    );
  });

  it('APPEND adds, keeping the defaults of columns the input has not', async () => {
    await warehouse.client.query(
      "CREATE TABLE mart.t (id int, name text, seen text DEFAULT 'now'); INSERT INTO mart.t VALUES (0, 'old', 'then')",
    );
    expect(await load(target('APPEND'))).toMatchObject(WRITTEN);
    expect(await table()).toEqual([
      { id: 0, name: 'old', seen: 'then' },
      ...ROWS.map((row) => ({ ...row, seen: 'now' })),
    ]);
  });

  it('OVERWRITE replaces every row and shows readers the old ones until it commits', async () => {
    await warehouse.client.query(
      "CREATE TABLE mart.t (id int PRIMARY KEY, name text); INSERT INTO mart.t VALUES (1, 'old'), (9, 'old')",
    );
    await load(target('OVERWRITE'));
    expect(await table()).toEqual(ROWS);
    await engine.run('none', inline([], { id: 'INTEGER', name: 'VARCHAR' }));
    expect(await load(target('OVERWRITE'), 'none')).toMatchObject({ rows: 0 });
    expect(await table()).toEqual([]);
  });

  it.each([
    ['a unique index', 'CREATE UNIQUE INDEX ON mart.t (name, id)'],
    ['no unique index', 'SELECT 1'],
    ['only a partial unique index', 'CREATE UNIQUE INDEX ON mart.t (id, name) WHERE id > 5'],
  ])('UPSERT updates and inserts by key with %s', async (_, index) => {
    await warehouse.client.query(`CREATE TABLE mart.t (id int, name text, n int, kept text DEFAULT 'd'); ${index};
      INSERT INTO mart.t VALUES (1, 'a', 1, 'k'), (9, 'z', 9, 'k')`);
    await engine.run(
      'changes',
      inline([
        { id: 1, name: 'a', n: 100 },
        { id: 1, name: 'b', n: 200 },
      ]),
    );
    await load(target('UPSERT', ['id', 'name']), 'changes');
    expect(await warehouse.rows('SELECT * FROM mart.t ORDER BY id, name')).toEqual([
      { id: 1, name: 'a', n: 100, kept: 'k' },
      { id: 1, name: 'b', n: 200, kept: 'd' },
      { id: 9, name: 'z', n: 9, kept: 'k' },
    ]);
  });

  it('UPSERT gives a table it makes a primary key, and works when every column is a key', async () => {
    await load(target('UPSERT', ['id']));
    await load(target('UPSERT', ['id']));
    expect(await warehouse.rows('SELECT count(*)::int AS n FROM mart.t')).toEqual([{ n: 3 }]);
    await engine.run('keys', inline([{ id: 1 }, { id: 2 }]));
    await load(target('UPSERT', ['id'], 'mart.k'), 'keys');
    await load(target('UPSERT', ['id'], 'mart.k'), 'keys');
    expect(await warehouse.rows('SELECT * FROM mart.k ORDER BY id')).toMatchObject([
      { id: '1' },
      { id: '2' },
    ]);
  });

  it.each<[string, PostgresTargetSpec, Record<string, unknown>[], RegExp]>([
    [
      'several rows of one key',
      target('UPSERT', ['id']),
      [
        { id: 5, name: 'x' },
        { id: 5, name: 'y' },
      ],
      /several rows with the key id = 5/,
    ],
    [
      'a null key',
      target('UPSERT', ['id']),
      [
        { id: null, name: 'x' },
        { id: 1, name: 'y' },
      ],
      /key \(id\) is null/,
    ],
    ['a key that is no column', target('UPSERT', ['nosuch']), [{ id: 5 }], /no column nosuch/],
    [
      'a column the table has not',
      { ...target('APPEND'), widen: false },
      [{ id: 5, extra: 1 }],
      /mart\.t has no column extra/,
    ],
    [
      'a value that does not fit',
      target('OVERWRITE'),
      [{ id: 'x', name: 'y' }],
      /invalid input syntax for type integer: "x"/,
    ],
    ['a constraint', target('OVERWRITE'), [{ id: -1, name: 'y' }], /violates check constraint/],
  ])('refuse %s and leave the table as it was', async (_, spec, rows, message) => {
    await warehouse.client.query(
      "CREATE TABLE mart.t (id int CHECK (id > 0), name text); INSERT INTO mart.t VALUES (7, 'old')",
    );
    await engine.run('bad', inline(rows));
    await expect(load(spec, 'bad')).rejects.toMatchObject({
      kind: 'TARGET',
      transient: false,
      message: expect.stringMatching(message),
    });
    expect(await table()).toEqual([{ id: 7, name: 'old' }]);
  });

  it('write many rows', async () => {
    await engine.run('many', sql("SELECT i AS id, 'name ' || i AS name FROM range(300000) t(i)"));
    expect(await load(target('APPEND'), 'many')).toMatchObject({ rows: 300_000 });
    expect(await warehouse.rows('SELECT count(*)::int AS n, sum(id)::text AS s FROM mart.t')).toEqual([
      { n: 300_000, s: '44999850000' },
    ]);
  });
});

describe('a target that is executed again', () => {
  it('by the same run writes nothing, by another run does', async () => {
    const spec = target('APPEND');
    const first = await engine.run('mart', spec, ['rows']);
    expect(first.alreadyDone).toBeUndefined();
    expect(await engine.run('mart', spec, ['rows'])).toEqual({
      rows: 3,
      output: 'mart.t',
      alreadyDone: true,
    });
    const other = await engine.open({ runId: 'run-2' });
    await execute(other, { id: 'mart', inputs: ['rows'], spec });
    expect(await table()).toHaveLength(6);
    expect(
      await warehouse.rows(
        "SELECT run_id, rows::int FROM opsgraph.load WHERE task_id = 'mart' ORDER BY run_id",
      ),
    ).toEqual([
      { run_id: 'run-1', rows: 3 },
      { run_id: 'run-2', rows: 3 },
    ]);
  });

  it('by two workers at once writes once', async () => {
    const second = await engine.open();
    const spec = target('APPEND');
    await warehouse.client.query('CREATE TABLE mart.t (id bigint, name text)');
    const both = [engine.session, second].map((session) =>
      execute(session, { id: 'raced', inputs: ['rows'], spec }),
    );
    const outcomes = await Promise.all(both);
    expect(outcomes.filter(({ alreadyDone }) => alreadyDone)).toHaveLength(1);
    expect(await table()).toHaveLength(3);
  });

  it('after two first loads at once have made the record table, loses neither', async () => {
    await warehouse.client.query('DROP SCHEMA opsgraph CASCADE');
    await Promise.all(['mart.a', 'mart.b', 'mart.c'].map((name) => load(target('APPEND', undefined, name))));
    expect(await warehouse.rows('SELECT count(*)::int AS n FROM opsgraph.load')).toEqual([{ n: 3 }]);
  });

  it('two OVERWRITEs of one table at once leave the rows of one', async () => {
    await warehouse.client.query(
      "CREATE TABLE mart.t (id bigint, name text); INSERT INTO mart.t VALUES (8, 'old')",
    );
    await Promise.all([load(target('OVERWRITE')), load(target('OVERWRITE'))]);
    expect(await table()).toHaveLength(3);
  });

  it('after its process was killed inside the transaction writes once', async () => {
    await warehouse.client.query(
      "CREATE TABLE mart.t (id bigint, name text); INSERT INTO mart.t VALUES (8, 'old')",
    );
    // Holding the table keeps the load inside its transaction, behind the note that it is done.
    await warehouse.client.query('BEGIN; LOCK TABLE mart.t IN SHARE MODE');
    const spec = target('OVERWRITE');
    const before = await engineProcesses();
    const session = await engine.open();
    const [pid] = (await engineProcesses()).filter((child) => !before.includes(child));
    if (pid === undefined) throw new Error('The session has no child process.');
    const killed = execute(session, { id: 'killed', inputs: ['rows'], spec });
    const failed = expect(killed).rejects.toMatchObject({ kind: 'INTERNAL', transient: true });
    await eventually(async () => (await warehouse.rows(waiting)).length > 0);
    process.kill(pid, 'SIGKILL');
    await failed;
    await warehouse.client.query('COMMIT');
    expect(await execute(session, { id: 'killed', inputs: ['rows'], spec })).toMatchObject(WRITTEN);
    expect(await table()).toEqual(ROWS.map((row) => ({ ...row, id: String(row.id) })));
  });

  it('cancelled inside the transaction leaves the table as it was', async () => {
    await warehouse.client.query(
      "CREATE TABLE mart.t (id bigint, name text); INSERT INTO mart.t VALUES (8, 'old')",
    );
    await warehouse.client.query('BEGIN; LOCK TABLE mart.t IN SHARE MODE');
    const controller = new AbortController();
    const cancelled = engine.run('stopped', target('OVERWRITE'), ['rows'], controller.signal);
    const failed = expect(cancelled).rejects.toMatchObject({ kind: 'CANCELLED' });
    await eventually(async () => (await warehouse.rows(waiting)).length > 0);
    controller.abort();
    await failed;
    await warehouse.client.query('COMMIT');
    await eventually(async () => (await warehouse.rows(waiting)).length === 0);
    expect(await table()).toEqual([{ id: '8', name: 'old' }]);
    expect(await engine.run('stopped', target('OVERWRITE'), ['rows'])).toMatchObject(WRITTEN);
  });
});

/** pg_locks and not pg_stat_activity, which stands still inside the transaction that asks. */
const waiting = `SELECT pid FROM pg_locks WHERE NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
