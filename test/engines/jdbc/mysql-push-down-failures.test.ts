import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openCuttableProxy } from '../../support/cuttable-proxy.js';
import { eventually } from '../../support/eventually.js';
import { hasMariaDb } from '../../support/mariadb.js';
import { MysqlShop, NAMED, OLD } from './mysql-shop.js';

let shop: MysqlShop;

beforeAll(async () => {
  shop = await MysqlShop.open();
});
afterAll(() => shop?.close());
beforeEach(() => shop.reset());

const tablesOfMart = async () =>
  (await shop.server.rows('SHOW TABLES FROM mart')).map((row) => Object.values(row)[0]);
const statements = (like: string) =>
  shop.server.rows(`SELECT id FROM information_schema.processlist WHERE info LIKE '${like}'`);
const inserting = async () => (await statements('INSERT INTO `%WITH%')).length > 0;

(hasMariaDb() ? describe : describe.skip)('a graph that MySQL cannot finish', () => {
  it('writes all targets or none, and none of them twice', async () => {
    await shop.server.run('CREATE TABLE mart.second (id int CHECK (id < 2), name varchar(20)) ENGINE=InnoDB');
    await shop.makeTable();
    const graph = (where: string) => [
      shop.jdbc.source('customers'),
      shop.jdbc.transform('named', { type: 'sql', sql: `SELECT id, name FROM customers WHERE ${where}` }, [
        'customers',
      ]),
      shop.jdbc.target('first', 'named'),
      shop.jdbc.target('second', 'named', { table: 'mart.second', mode: 'APPEND' }),
    ];
    await expect(shop.jdbc.push(graph('id < 5'))).rejects.toMatchObject({
      name: 'EngineError',
      kind: 'TARGET',
      transient: false,
      taskId: 'second',
      message: expect.stringMatching(/^MySQL: CONSTRAINT/),
    });
    expect(await shop.rows()).toEqual(OLD);

    await shop.jdbc.push(graph('id = 1'));
    expect(await shop.jdbc.push(graph('id = 1'))).toMatchObject({ rows: 1, alreadyDone: true });
    expect(await shop.rows('mart.second')).toEqual([{ id: 1, name: 'Ada' }]);
    expect(
      await shop.server.rows(
        `SELECT task_id, row_count FROM opsgraph_load WHERE run_id = '${shop.jdbc.runId}' ORDER BY 1`,
      ),
    ).toEqual([
      { task_id: 'first', row_count: '1' },
      { task_id: 'second', row_count: '1' },
    ]);
  });

  it('writes once when two workers are at the same run, and makes the tables of others wait their turn', async () => {
    await shop.makeTable('');
    const graph = (mode: 'APPEND' | 'OVERWRITE') => [
      ...shop.named(),
      shop.jdbc.target('out', 'named', { mode }),
    ];
    const both = await Promise.all([shop.jdbc.push(graph('APPEND')), shop.jdbc.push(graph('APPEND'))]);
    expect(both.filter(({ alreadyDone }) => alreadyDone)).toHaveLength(1);
    expect(both.map((outcome) => outcome.rows)).toEqual([2, 2]);
    expect(await shop.rows()).toHaveLength(4);
    const runs = [0, 1].map(() => {
      shop.jdbc.nextRun();
      return shop.jdbc.push(graph('OVERWRITE'));
    });
    await Promise.all(runs);
    expect(await shop.rows()).toEqual(NAMED);
  });

  it.each([
    ['a second statement', 'SELECT 1 AS a; DROP TABLE orders', /syntax/],
    ['a change', 'DELETE FROM orders', /syntax/],
    ['a change within', 'SELECT 1 AS a) AS a); DROP TABLE orders -- ', /syntax/],
    ['a file', "SELECT 1 AS a INTO OUTFILE '/tmp/opsgraph-out'", /syntax|INTO/],
    ['an unknown column', 'SELECT nobody FROM orders', /Unknown column 'nobody'/],
    ['a column that is there twice', 'SELECT id, id FROM orders', /Duplicate column name/],
  ])('refuses %s, names the task and makes nothing', async (_, sql, message) => {
    const graph = [
      shop.jdbc.source('orders'),
      shop.jdbc.transform('made', { type: 'sql', sql }, ['orders']),
      shop.jdbc.target('out', 'made'),
    ];
    await expect(shop.jdbc.push(graph)).rejects.toMatchObject({
      kind: 'SQL',
      taskId: 'made',
      message: expect.stringMatching(message),
    });
    expect(await shop.rows('orders')).toHaveLength(4);
    expect(await tablesOfMart()).toEqual([]);
  });

  it.each<[string, string, RegExp]>([
    ['a value that does not fit', "SELECT 1 AS id, repeat('x', 30) AS name", /name/],
    ['a value that cannot be computed', 'SELECT 1 / (id - 1) AS id, name FROM customers', /Division by 0/],
    ['a null key', "SELECT NULL AS id, 'x' AS name", /id/],
    [
      'a key that comes twice',
      "SELECT 5 AS id, 'x' AS name UNION ALL SELECT 5, 'y'",
      /several rows with the key id = 5/,
    ],
    ['no key', "SELECT 'x' AS name", /no column id/],
  ])('leaves the table as it was after %s', async (_, query, message) => {
    await shop.makeTable();
    const graph = [
      shop.jdbc.source('made', { query }),
      shop.jdbc.target('out', 'made', { mode: 'MERGE', keys: ['id'] }),
    ];
    await expect(shop.jdbc.push(graph)).rejects.toMatchObject({
      kind: 'TARGET',
      taskId: 'out',
      message: expect.stringMatching(message),
    });
    expect(await shop.rows()).toEqual(OLD);
  });

  it('makes no table for rows that cannot be computed', async () => {
    const graph = [
      shop.jdbc.source('made', { query: 'SELECT 1 / (id - 5) AS id FROM customers' }),
      shop.jdbc.target('out', 'made', { mode: 'APPEND' }),
    ];
    await expect(shop.jdbc.push(graph)).rejects.toMatchObject({ kind: 'TARGET', taskId: 'out' });
    expect(await tablesOfMart()).toEqual([]);
  });

  it('refuses a table that could not be restored', async () => {
    await shop.server.run('CREATE TABLE mart.t (id int, name varchar(20)) ENGINE=MyISAM');
    await expect(
      shop.jdbc.push([...shop.named(), shop.jdbc.target('out', 'named', { mode: 'APPEND' })]),
    ).rejects.toMatchObject({ kind: 'TARGET', taskId: 'out', message: expect.stringContaining('MyISAM') });
  });

  it.each(['staged', 'written'])('is interrupted by a cancel while its rows are %s', async (when) => {
    await shop.makeTable('');
    const cancel = new AbortController();
    const slow = { type: 'sql', sql: "SELECT seq AS id, 'x' AS name FROM orders, seq_1_to_2000000000" };
    const pushed = shop.jdbc.push(
      [
        shop.jdbc.source('orders'),
        shop.jdbc.transform('slow', slow, ['orders']),
        shop.jdbc.target('out', 'slow', { mode: when === 'staged' ? 'OVERWRITE' : 'APPEND' }),
      ],
      { signal: cancel.signal },
    );
    pushed.catch(() => undefined);
    await eventually(inserting);
    await after(200);
    const start = performance.now();
    cancel.abort();
    await expect(pushed).rejects.toMatchObject({ kind: 'CANCELLED' });
    expect(performance.now() - start).toBeLessThan(5_000);
    await eventually(async () => !(await inserting()));
    expect(await shop.rows()).toHaveLength(2);
  });

  it('that lost its connection says so, and has changed nothing', async () => {
    await shop.makeTable('');
    const proxy = await openCuttableProxy(`tcp://127.0.0.1:${shop.server.target.port}`);
    shop.connection = { ...shop.server.target, port: Number(new URL(proxy.url).port) };
    await shop.server.run('START TRANSACTION', 'SELECT * FROM mart.t FOR UPDATE');
    const pushed = shop.jdbc.push([...shop.named(), shop.jdbc.target('out', 'named')]);
    const failed = expect(pushed).rejects.toMatchObject({ kind: 'CONNECTION', transient: true });
    await eventually(async () => (await statements('DELETE FROM `mart`%')).length > 0);
    await proxy.cut();
    await failed;
    await shop.server.run('COMMIT');
    await eventually(async () => (await statements('DELETE FROM `mart`%')).length === 0);
    expect(await shop.rows()).toHaveLength(2);
  });

  it('that times out says so', async () => {
    const slow = shop.jdbc.source('slow', { query: 'SELECT SLEEP(60) AS n' });
    const pushed = shop.jdbc.push([slow, shop.jdbc.target('out', 'slow')], {
      signal: AbortSignal.timeout(500),
    });
    await expect(pushed).rejects.toMatchObject({ kind: 'TIMEOUT' });
  });
});
