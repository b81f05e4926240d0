import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { withMysql } from '../../../src/engines/batch/mysql-client.js';
import { claimMysqlLoad, prepareMysqlLoadRecords } from '../../../src/engines/batch/mysql-load-record.js';
import type { MysqlTargetSpec } from '../../../src/engines/task-spec.js';
import { openCuttableProxy } from '../../support/cuttable-proxy.js';
import { eventually } from '../../support/eventually.js';
import { hasMariaDb, type MariaDbFixture, startMariaDb } from '../../support/mariadb.js';
import { type EngineFixture, execute, inline, openEngine, sql } from './engine-fixture.js';
import { engineProcesses } from './engine-processes.js';

let engine: EngineFixture;
let shop: MariaDbFixture;
let number = 0;

const ROWS = [
  { id: 1, name: 'O\'Neil \\ "x"' },
  { id: 2, name: '' },
  { id: 3, name: null },
];

beforeAll(async () => {
  shop = await startMariaDb();
  engine = await openEngine();
  engine.connections.set('shop', shop.target);
  await engine.run('rows', inline(ROWS, { id: 'BIGINT', name: 'VARCHAR' }));
});
afterAll(async () => {
  await engine?.close();
  await shop?.close();
});
beforeEach(() => shop.run('DROP TABLE IF EXISTS t, u'));

function target(mode: MysqlTargetSpec['mode'], more: Partial<MysqlTargetSpec> = {}): MysqlTargetSpec {
  const keys = mode === 'UPSERT' || mode === 'MERGE' ? { keys: ['id'] } : {};
  return { kind: 'target', type: 'mysql', connection: 'shop', table: 't', mode, ...keys, ...more };
}
const load = (spec: MysqlTargetSpec, input = 'rows') => engine.run(`t${++number}`, spec, [input]);
const table = () => shop.rows('SELECT * FROM t ORDER BY id');
const stored = ROWS.map((row) => ({ ...row, id: String(row.id) }));

async function oldTable(keys = 'PRIMARY KEY (id)'): Promise<void> {
  await shop.run(
    `CREATE TABLE t (id bigint NOT NULL, name varchar(20)${keys && `, ${keys}`}) ENGINE=InnoDB`,
    "INSERT INTO t VALUES (2, 'two'), (8, 'old')",
  );
}

(hasMariaDb() ? describe : describe.skip)('a mysql target', () => {
  it.each(['APPEND', 'OVERWRITE', 'UPSERT', 'MERGE'] as const)('%s makes a missing table', async (mode) => {
    expect(await load(target(mode))).toEqual({
      rows: 3,
      bytes: expect.any(Number),
      output: 't',
      columns: [
        { name: 'id', type: 'BIGINT' },
        { name: 'name', type: 'VARCHAR' },
      ],
    });
    expect(await table()).toEqual(stored);
  });

  it.each(['PRIMARY KEY (id)', ''])(
    'UPSERT changes known keys and adds new ones, MERGE deletes the rest (%s)',
    async (keys) => {
      await oldTable(keys);
      await load(target('UPSERT'));
      expect(await table()).toEqual([...stored, { id: '8', name: 'old' }]);
      await load(target('MERGE'));
      expect(await table()).toEqual(stored);
    },
  );

  it('APPEND adds and OVERWRITE replaces', async () => {
    await oldTable('');
    await load(target('APPEND'));
    expect(await table()).toHaveLength(5);
    await load(target('OVERWRITE'));
    expect(await table()).toEqual(stored);
  });

  it('MERGE deletes what deleteWhen says, and nothing else', async () => {
    await oldTable();
    await load(target('MERGE', { deleteWhen: "name = '' OR id = 3" }));
    expect(await table()).toEqual([stored[0], { id: '8', name: 'old' }]);
    await expect(load(target('MERGE', { deleteWhen: 'true), (SELECT 1' }))).rejects.toMatchObject({
      name: 'EngineError',
    });
  });

  it('adds a column that the table lacks, unless told not to', async () => {
    await shop.run(
      'CREATE TABLE t (id bigint PRIMARY KEY, extra int DEFAULT 7)',
      'INSERT INTO t VALUES (9, 1)',
    );
    await expect(load(target('UPSERT', { widen: false }))).rejects.toMatchObject({
      kind: 'TARGET',
      message: expect.stringContaining('no column name'),
    });
    const outcome = await load(target('UPSERT'));
    expect(outcome.healing).toEqual([
      { strategy: 'WIDEN_TARGET', reason: expect.stringContaining('name (longtext)') },
    ]);
    expect(await table()).toEqual([
      ...ROWS.map(({ id, name }) => ({ id: String(id), extra: 7, name })),
      { id: '9', extra: 1, name: null },
    ]);
  });

  it('keeps the values of every type', async () => {
    const values = `SELECT 1 AS id, true AS b, 255::UTINYINT AS u, 18446744073709551615::UBIGINT AS ub,
      12345678901234567890.123456789::DECIMAL(38,9) AS d, 0.1::DOUBLE AS f, '\\x00\\xFF''\\x5C'::BLOB AS bin,
      DATE '2024-02-29' AS day, TIME '23:59:59.123456' AS t, TIMESTAMP '2024-02-29 01:02:03.000004' AS ts,
      TIMESTAMPTZ '2024-02-29 01:02:03+02' AS tz, '{"a":[1]}'::JSON AS j, [1, NULL] AS l, 'ż😀' || chr(10) AS s`;
    await engine.run('kinds', sql(values));
    await load(target('OVERWRITE'), 'kinds');
    const [row] = await shop.rows('SELECT *, hex(bin) AS bin FROM t');
    expect(row).toEqual({
      id: 1,
      b: 1,
      u: 255,
      ub: '18446744073709551615',
      d: '12345678901234567890.123456789',
      f: 0.1,
      bin: '00FF275C',
      day: '2024-02-29',
      t: '23:59:59.123456',
      ts: '2024-02-29 01:02:03.000004',
      tz: '2024-02-28 23:02:03.000000',
      j: { a: [1] },
      l: [1, null],
      s: 'ż😀\n',
    });
  });

  it('loads many rows in several statements', async () => {
    await engine.run('many', sql("SELECT i AS id, repeat('x', 100) AS name FROM range(100000) t(i)"));
    expect(await load(target('MERGE'), 'many')).toMatchObject({ rows: 100_000 });
    expect(await load(target('MERGE'), 'many')).toMatchObject({ rows: 100_000 });
    expect(await shop.rows('SELECT count(*) AS n, sum(length(name)) AS s FROM t')).toEqual([
      { n: '100000', s: '10000000' },
    ]);
  });

  it.each([
    ['a value that does not fit', "SELECT 1 AS id, repeat('x', 30) AS name", /name/],
    ['a value of another type', "SELECT 'abc' AS id, 'x' AS name", /id/],
    ['a null key', "SELECT NULL::BIGINT AS id, 'x' AS name", /id/],
    [
      'a key that comes twice',
      "SELECT 5 AS id, 'x' AS name FROM range(2)",
      /several rows with the key id = 5/,
    ],
    ['no key', "SELECT 'x' AS name", /no column id/],
  ])('leaves the table as it was after %s', async (_, input, message) => {
    await oldTable();
    await engine.run('wrong', sql(input));
    await expect(load(target('MERGE'), 'wrong')).rejects.toMatchObject({
      kind: 'TARGET',
      message: expect.stringMatching(message),
    });
    expect(await table()).toEqual([
      { id: '2', name: 'two' },
      { id: '8', name: 'old' },
    ]);
  });

  it('leaves the table as it was when a statement of the transaction fails', async () => {
    await oldTable();
    await shop.run('ALTER TABLE t ADD CONSTRAINT short CHECK (id <> 3)');
    await expect(load(target('OVERWRITE'))).rejects.toMatchObject({ kind: 'TARGET', transient: false });
    expect(await table()).toHaveLength(2);
    expect(await shop.rows(`SELECT * FROM opsgraph_load WHERE task_id = 't${number}'`)).toEqual([]);
  });

  it('refuses a table that could not be restored', async () => {
    await shop.run('CREATE TABLE t (id bigint, name text) ENGINE=MyISAM');
    await expect(load(target('APPEND'))).rejects.toMatchObject({
      kind: 'TARGET',
      message: expect.stringContaining('MyISAM'),
    });
  });

  it('repeated, or by two workers at once, writes once', async () => {
    const second = await engine.open();
    const both = [engine.session, second].map((session) =>
      execute(session, { id: 'raced', inputs: ['rows'], spec: target('APPEND') }),
    );
    const outcomes = await Promise.all(both);
    expect(outcomes.filter(({ alreadyDone }) => alreadyDone)).toHaveLength(1);
    expect(await engine.run('raced', target('APPEND'), ['rows'])).toEqual({
      rows: 3,
      output: 't',
      alreadyDone: true,
    });
    expect(await table()).toHaveLength(3);
  });

  it('lets a load be claimed once', async () => {
    const task = { id: 'claimed', inputs: [], spec: target('APPEND') };
    const { signal } = new AbortController();
    const claims = await withMysql({ task, connection: shop.target, signal }, async (client) => {
      await prepareMysqlLoadRecords(client);
      return [
        await claimMysqlLoad(client, 'run', 'claimed', 1),
        await claimMysqlLoad(client, 'run', 'claimed', 1),
      ];
    });
    expect(claims).toEqual([true, false]);
  });

  it('two OVERWRITEs of one table at once leave the rows of one', async () => {
    await oldTable('');
    const second = await engine.open({ runId: 'run-2' });
    await Promise.all([
      load(target('OVERWRITE')),
      execute(second, { id: 'other', inputs: ['rows'], spec: target('OVERWRITE') }),
    ]);
    expect(await table()).toHaveLength(3);
  });

  it('several at once, however they name the table, make it once and lose nothing', async () => {
    const [{ name = '' } = {}] = await shop.rows('SELECT database() AS name');
    await engine.run('wider', inline([{ id: 9, name: 'x', note: 'n' }]));
    await Promise.all([
      ...['t', `${name}.t`, 't'].map((table) => load(target('UPSERT', { table }))),
      load(target('APPEND', { table: `${name}.t` }), 'wider'),
    ]);
    expect(await shop.rows('SELECT id, count(*) AS n FROM t GROUP BY id ORDER BY id')).toEqual(
      ['1', '2', '3', '9'].map((id) => ({ id, n: '1' })),
    );
    expect(await shop.rows('SELECT name, note FROM t WHERE id = 9')).toEqual([{ name: 'x', note: 'n' }]);
  });

  it('does not wait for the note of a load that is under way', async () => {
    await load(target('APPEND'));
    await shop.run(
      "INSERT INTO opsgraph_load (run_id, task_id, row_count, finished_at) VALUES ('old', 't', 1, '2020-01-01')",
    );
    const task = { id: 'under-way', inputs: [], spec: target('APPEND') };
    const { signal } = new AbortController();
    await withMysql({ task, connection: shop.target, signal }, async (other) => {
      await other.change('START TRANSACTION');
      await claimMysqlLoad(other, 'under-way', 't', 1);
      await load(target('APPEND'));
      await other.change('ROLLBACK');
    });
    expect(await shop.rows("SELECT 1 FROM opsgraph_load WHERE run_id = 'old'")).toEqual([]);
  });

  it('after its process was killed inside the transaction writes once', async () => {
    await oldTable('');
    await shop.run('START TRANSACTION', 'SELECT * FROM t FOR UPDATE');
    const before = await engineProcesses();
    const session = await engine.open();
    const [pid] = (await engineProcesses()).filter((child) => !before.includes(child));
    if (pid === undefined) throw new Error('The session has no child process.');
    const task = { id: 'killed', inputs: ['rows'], spec: target('OVERWRITE') };
    const failed = expect(execute(session, task)).rejects.toMatchObject({
      kind: 'INTERNAL',
      transient: true,
    });
    await eventually(waiting);
    process.kill(pid, 'SIGKILL');
    await failed;
    await shop.run('COMMIT');
    expect(await execute(session, task)).toMatchObject({ rows: 3, output: 't' });
    expect(await execute(session, task)).toMatchObject({ alreadyDone: true });
    expect(await table()).toEqual(stored);
  });

  it('cancelled or cut inside the transaction leaves the table as it was', async () => {
    await oldTable('');
    const proxy = await openCuttableProxy(`tcp://127.0.0.1:${shop.target.port}`);
    engine.connections.set('cut', { ...shop.target, port: Number(new URL(proxy.url).port) });
    await shop.run('START TRANSACTION', 'SELECT * FROM t FOR UPDATE');
    const controller = new AbortController();
    const cancelled = engine.run('stopped', target('OVERWRITE'), ['rows'], controller.signal);
    const isCancelled = expect(cancelled).rejects.toMatchObject({ kind: 'CANCELLED' });
    await eventually(waiting);
    controller.abort();
    await isCancelled;
    await eventually(async () => !(await waiting()));
    const cut = load(target('OVERWRITE', { connection: 'cut' }));
    const isCut = expect(cut).rejects.toMatchObject({ kind: 'CONNECTION', transient: true });
    await eventually(waiting);
    await proxy.cut();
    await isCut;
    await shop.run('COMMIT');
    await eventually(async () => !(await waiting()));
    expect(await table()).toHaveLength(2);
  });
});

async function waiting(): Promise<boolean> {
  const found = await shop.rows(
    "SELECT id FROM information_schema.processlist WHERE info LIKE 'DELETE FROM `t`%'",
  );
  return found.length > 0;
}
