import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MysqlSourceSpec } from '../../../src/engines/task-spec.js';
import { openCuttableProxy } from '../../support/cuttable-proxy.js';
import { eventually } from '../../support/eventually.js';
import { hasMariaDb, type MariaDbFixture, startMariaDb } from '../../support/mariadb.js';
import { type EngineFixture, execute, openEngine, query, readParquet } from './engine-fixture.js';

let engine: EngineFixture;
let shop: MariaDbFixture;
let number = 0;

beforeAll(async () => {
  shop = await startMariaDb();
  engine = await openEngine();
  engine.connections.set('shop', shop.target);
});
afterAll(async () => {
  await engine?.close();
  await shop?.close();
});

const from = (spec: Partial<MysqlSourceSpec>): MysqlSourceSpec => ({
  kind: 'source',
  type: 'mysql',
  connection: 'shop',
  ...spec,
});

async function read(spec: Partial<MysqlSourceSpec>) {
  const id = `s${++number}`;
  const outcome = await engine.run(id, from(spec));
  const path = join(engine.options.runDirectory, `${id}.parquet`);
  return { outcome, path, rows: await readParquet(path) };
}

/** One value of each column type with the DuckDB type and text it must have. */
const TYPES: [column: string, value: string, type: string, text: string | null][] = [
  ['tinyint(1)', '5', 'TINYINT', '5'],
  ['tinyint unsigned', '255', 'UTINYINT', '255'],
  ['smallint', '-32768', 'SMALLINT', '-32768'],
  ['mediumint unsigned', '16777215', 'UINTEGER', '16777215'],
  ['int', '-2147483648', 'INTEGER', '-2147483648'],
  ['bigint', '-9223372036854775808', 'BIGINT', '-9223372036854775808'],
  ['bigint unsigned', '18446744073709551615', 'UBIGINT', '18446744073709551615'],
  [
    'decimal(38,9)',
    '12345678901234567890123456789.123456789',
    'DECIMAL(38,9)',
    '12345678901234567890123456789.123456789',
  ],
  ['decimal(5,2) unsigned', '999.99', 'DECIMAL(5,2)', '999.99'],
  ['decimal(65,10)', '1.5', 'DECIMAL(38,10)', '1.5000000000'],
  ['float', '1.2345678', 'FLOAT', '1.2345678'],
  ['double', '0.1e0 + 0.2e0', 'DOUBLE', '0.30000000000000004'],
  ['date', "'2024-02-29'", 'DATE', '2024-02-29'],
  ['date', "'0000-00-00'", 'DATE', null],
  ['date', "'2024-00-00'", 'DATE', null],
  ['datetime(6)', "'2024-02-29 23:59:59.123456'", 'TIMESTAMP', '2024-02-29 23:59:59.123456'],
  ['datetime', "'0000-00-00 00:00:00'", 'TIMESTAMP', null],
  ['timestamp', "'2024-02-29 12:00:00'", 'TIMESTAMP WITH TIME ZONE', '2024-02-29 12:00:00+00'],
  ['time(3)', "'-838:59:59.000'", 'VARCHAR', '-838:59:59.000'],
  ['year', '2024', 'USMALLINT', '2024'],
  ['json', `'{"a": [1, 2.50, "ż"]}'`, 'JSON', '{"a": [1, 2.50, "ż"]}'],
  ['varbinary(4)', "x'00ff5c27'", 'BLOB', '\\x00\\xFF\\x5C\\x27'],
  ['longblob', "x''", 'BLOB', ''],
  ['bit(3)', "b'101'", 'UBIGINT', '5'],
  [
    'bit(64)',
    "b'1111111111111111111111111111111111111111111111111111111111111111'",
    'UBIGINT',
    '18446744073709551615',
  ],
  ["enum('a','ż')", "'ż'", 'VARCHAR', 'ż'],
  ["set('a','b')", "'a,b'", 'VARCHAR', 'a,b'],
  [
    'text',
    "concat('quote \" line', char(10), ' comma, \\\\N 😀')",
    'VARCHAR',
    'quote " line\n comma, \\N 😀',
  ],
  ['varchar(9)', "''", 'VARCHAR', ''],
  ['varchar(9)', 'NULL', 'VARCHAR', null],
  ['varchar(9) character set latin1', "'zażółć'", 'VARCHAR', 'za?ó??'],
];

(hasMariaDb() ? describe : describe.skip)('a mysql source', () => {
  it('keeps every value of every type', async () => {
    const columns = TYPES.map(([column], index) => `\`c ${index}\` ${column} NULL`);
    await shop.run(
      "SET sql_mode = '', time_zone = '+00:00'",
      `CREATE TABLE kinds (${columns.join(', ')})`,
      `INSERT INTO kinds VALUES (${TYPES.map(([, value]) => value).join(', ')})`,
    );
    const { outcome, path } = await read({ table: 'kinds' });
    expect(outcome).toMatchObject({ rows: 1, bytes: expect.any(Number) });
    expect(outcome.columns?.map(({ type }) => type)).toEqual(TYPES.map(([, , type]) => type));
    const texts = TYPES.map((_, index) => `"c ${index}"::VARCHAR AS c${index}`).join(', ');
    const [row] = await query(`SELECT ${texts} FROM '${path}'`);
    expect(Object.values(row ?? {})).toEqual(TYPES.map(([, , , text]) => text));
  });

  it('reads a query, and a sum by what it holds', async () => {
    await shop.run('CREATE TABLE sums (a bigint)', 'INSERT INTO sums VALUES (9223372036854775807), (1)');
    const { rows, outcome } = await read({ query: 'SELECT sum(a) AS total, count(*) AS n FROM sums -- all' });
    expect(rows).toEqual([{ total: '9223372036854775808', n: '2' }]);
    expect(outcome.columns?.[0]).toEqual({ name: 'total', type: 'DECIMAL(38,0)' });
  });

  it.each([
    'SELECT 1 AS a;',
    'SELECT 1 AS a # all',
    'SELECT 1 AS a; -- all',
    'SELECT 1 AS a;# all; of it\n/* and /* more */\n--',
    "SELECT 1 AS a FROM (SELECT '\\' AS b) AS x /* it's */ ; -- isn't",
  ])('reads %j', async (text) => {
    expect((await read({ query: text })).rows).toEqual([{ a: 1 }]);
  });

  it('reads rows in bulk, and none', async () => {
    await shop.run(
      'CREATE TABLE bulk (a int, b varchar(20))',
      "INSERT INTO bulk SELECT seq, concat('row ', seq) FROM seq_1_to_200000",
    );
    const { path } = await read({ table: 'shop.bulk' });
    expect(await query(`SELECT count(DISTINCT b) AS n, sum(a) AS s FROM '${path}'`)).toEqual([
      { n: '200000', s: '20000100000' },
    ]);
    expect((await read({ query: 'SELECT * FROM bulk WHERE a < 0;\n' })).outcome).toMatchObject({
      rows: 0,
      columns: [
        { name: 'a', type: 'INTEGER' },
        { name: 'b', type: 'VARCHAR' },
      ],
    });
  });

  it('reads what is beyond the watermark, by number, time and bytes', async () => {
    await shop.run(
      'CREATE TABLE moving (id bigint unsigned, at timestamp(6) NULL, name varchar(9))',
      "INSERT INTO moving VALUES (18446744073709551614, '2024-01-01 00:00:00.000001', 'a'), (18446744073709551615, '2024-01-01 00:00:00.000002', 'B'), (NULL, NULL, NULL)",
    );
    for (const [column, first, next] of [
      ['id', '18446744073709551614', '18446744073709551615'],
      ['at', '2024-01-01 00:00:00.000001+00', '2024-01-01 00:00:00.000002+00'],
      ['name', 'B', 'a'],
    ] as const) {
      const spec = from({ table: 'moving', incremental: { column } });
      const all = await engine.execute({ id: `i${++number}`, inputs: [], spec });
      expect(all).toMatchObject({ rows: 3, watermark: next });
      const later = await engine.execute({ id: `i${++number}`, inputs: [], spec }, { watermark: first });
      expect(later).toMatchObject({ rows: 1, watermark: next });
      const none = await engine.execute({ id: `i${++number}`, inputs: [], spec }, { watermark: next });
      expect(none.rows).toBe(0);
      expect(none).not.toHaveProperty('watermark');
    }
    const initial = from({ table: 'moving', incremental: { column: 'id', initial: 5 } });
    expect(await engine.execute({ id: 'initial', inputs: [], spec: initial })).toMatchObject({ rows: 2 });
  });

  it.each([
    ['time', "'100:00:00'"],
    ['json', "'[1]'"],
    ['float', '0.1'],
    ['varbinary(9)', "x'ff'"],
    ['decimal(65,0)', `1${'0'.repeat(40)}`],
  ])('refuses to go by a column of type %s that holds %s', async (type, value) => {
    const table = `unordered${++number}`;
    await shop.run(`CREATE TABLE ${table} (v ${type})`, `INSERT INTO ${table} VALUES (${value})`);
    await expect(read({ table, incremental: { column: 'v' } })).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringContaining('"v" cannot be read incrementally'),
    });
  });

  it.each([
    [{ table: 'nosuch' }, 'SOURCE', /nosuch/],
    [{ query: 'SELECT 1; DROP TABLE bulk' }, 'SOURCE', /syntax/],
    [{ query: 'SELECT 1; DROP TABLE bulk; -- all' }, 'SOURCE', /syntax/],
    [{ query: 'SELECT 1; /*! UNION SELECT 2 */' }, 'SOURCE', /syntax/],
    [{ query: 'SELECT 1;--1' }, 'SOURCE', /syntax/],
    [{ query: 'SELECT 1 AS a, 2 AS a' }, 'SOURCE', /Duplicate column name/],
    [{ table: 'bulk', incremental: { column: 'zz' } }, 'SOURCE', /no column "zz"/],
  ] as const)('says what is wrong with %j', async (spec, kind, message) => {
    await expect(read(spec)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) });
  });

  it('fails as CONNECTION, for good with a wrong password and for now with a cut connection', async () => {
    engine.connections.set('wrong', { ...shop.target, password: 'quite-wrong-7c1' });
    const refused = await read({ connection: 'wrong', table: 'bulk' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: 'CONNECTION', transient: false });
    expect(inspect(refused, { depth: null })).not.toContain('quite-wrong-7c1');
    const proxy = await openCuttableProxy(`tcp://127.0.0.1:${shop.target.port}`);
    engine.connections.set('cut', { ...shop.target, port: Number(new URL(proxy.url).port) });
    const reading = read({ connection: 'cut', query: 'SELECT sleep(20) AS a' });
    const failed = expect(reading).rejects.toMatchObject({ kind: 'CONNECTION', transient: true });
    await running('sleep(20)');
    await proxy.cut();
    await failed;
  });

  it('fails as DISK_FULL beyond the disk it may use', async () => {
    const small = await engine.open({ spillLimitMb: 1 });
    const failing = execute(small, { id: 'small', inputs: [], spec: from({ table: 'bulk' }) });
    await expect(failing).rejects.toMatchObject({ kind: 'DISK_FULL', transient: false });
    expect((await readdir(engine.options.runDirectory)).filter((name) => name.includes('small'))).toEqual([]);
  });

  it('is cancelled at once while a server says nothing', async () => {
    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    engine.connections.set('mute', { ...shop.target, port: (mute.address() as AddressInfo).port });
    const controller = new AbortController();
    const spec = from({ connection: 'mute', table: 'bulk' });
    const failed = expect(engine.run('mute', spec, [], controller.signal)).rejects.toMatchObject({
      kind: 'CANCELLED',
    });
    const [socket] = await once(mute, 'connection');
    const start = performance.now();
    controller.abort();
    await failed;
    expect(performance.now() - start).toBeLessThan(1_000);
    socket.destroy();
    mute.close();
  });

  it('kills its statement when it is cancelled', async () => {
    const controller = new AbortController();
    const reading = engine.run('slow', from({ query: 'SELECT sleep(25) AS a' }), [], controller.signal);
    const failed = expect(reading).rejects.toMatchObject({ kind: 'CANCELLED' });
    await running('sleep(25)');
    controller.abort();
    await failed;
    await eventually(async () => !(await isRunning('sleep(25)')));
  });

  it.each([
    ['the task is cancelled', (controller: AbortController) => controller.abort()],
    ['the session is closed', () => undefined],
  ])('leaves no statement on the server when %s and the engine process ends', async (_, stop) => {
    const port = await openDistantServer(shop.target.port);
    engine.connections.set('distant', { ...shop.target, port });
    const session = await engine.open();
    const controller = new AbortController();
    // Not sleep(), which finds out by itself that its client is gone.
    const query = 'SELECT count(*) AS n FROM seq_1_to_999999 a JOIN seq_1_to_999999 b ON a.seq * b.seq = -1';
    const task = { id: `s${++number}`, inputs: [], spec: from({ connection: 'distant', query }) };
    const reading = execute(session, task, controller.signal).catch(() => undefined);
    await running('seq_1_to_999999');
    stop(controller);
    if (controller.signal.aborted) await reading;
    await session.close();
    await eventually(async () => !(await isRunning('seq_1_to_999999')), 5_000);
  });
});

/** Takes a third of a second to be reached, as one does that is far away and asks for TLS. */
async function openDistantServer(port: number): Promise<number> {
  const server = createServer((here) => {
    here.on('error', () => undefined);
    setTimeout(() => {
      const there = connect(port, '127.0.0.1').on('error', () => here.destroy());
      here.on('close', () => there.destroy());
      here.pipe(there).pipe(here);
    }, 300);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return (server.address() as AddressInfo).port;
}

async function isRunning(text: string): Promise<boolean> {
  const found = await shop.rows(
    `SELECT id FROM information_schema.processlist WHERE info LIKE '%${text}%' AND id <> connection_id()`,
  );
  return found.length > 0;
}

function running(text: string): Promise<void> {
  return eventually(() => isRunning(text));
}
