import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PostgresTargetSpec } from '../../../src/engines/task-spec.js';
import { eventually } from '../../support/eventually.js';
import { type EngineFixture, inline, openEngine, sql } from './engine-fixture.js';
import { createWarehouse, type WarehouseFixture } from './postgres-fixture.js';

let engine: EngineFixture;
let warehouse: WarehouseFixture;
let task = 0;

beforeAll(async () => {
  engine = await openEngine();
  warehouse = await createWarehouse();
  engine.connections.set('dwh', warehouse.target);
});
afterAll(async () => {
  await engine.close();
  await warehouse.close();
});
beforeEach(() => warehouse.client.query('DROP SCHEMA IF EXISTS mart CASCADE; CREATE SCHEMA mart'));

function load(mode: PostgresTargetSpec['mode'], input: string, keys?: string[], table = 'mart.t') {
  const spec = {
    kind: 'target',
    type: 'postgres',
    connection: 'dwh',
    table,
    mode,
    ...(keys && { keys }),
  } as const;
  return engine.run(`load${++task}`, spec, [input]);
}

const table = () => warehouse.rows('SELECT * FROM mart.t ORDER BY id');

describe('array columns of PostgreSQL targets', () => {
  it.each(['APPEND', 'OVERWRITE', 'UPSERT'] as const)(
    '%s fills array columns from JSON and lists',
    async (mode) => {
      await warehouse.client.query(
        'CREATE TABLE mart.t (id int PRIMARY KEY, a int[], t text[], n numeric[], "B c" bytea[], v varchar(2)[])',
      );
      const texts = ['"quoted" \\ {a,b}\nż\u0001', '', 'NULL', null];
      await engine.run(
        'arrays',
        sql(`SELECT 1 AS id, '[[1, null], [3, 4]]'::JSON AS a, '${JSON.stringify(texts)}'::JSON AS t,
          '[12345678901234567890.123456789012345678901, "NaN"]'::JSON AS n, '${JSON.stringify(['\\x00ff'])}'::JSON AS "B c",
          ['x', NULL] AS v UNION ALL SELECT 2, '[]', NULL, NULL, NULL, []`),
      );
      await load(mode, 'arrays', mode === 'UPSERT' ? ['id'] : undefined);
      const read = 'SELECT id, a, t, n::text[], "B c"::text[] AS b, v FROM mart.t ORDER BY id';
      const matrix = [
        [1, null],
        [3, 4],
      ];
      const numbers = ['12345678901234567890.123456789012345678901', 'NaN'];
      expect(await warehouse.rows(read)).toEqual([
        { id: 1, a: matrix, t: texts, n: numbers, b: ['\\x00ff'], v: ['x', null] },
        { id: 2, a: [], t: null, n: null, b: null, v: [] },
      ]);
    },
  );

  it.each([
    ['[[1], [2, 3]]', /malformed JSON array/],
    ['{"a": 1}', /expected JSON array/],
    ['["x"]', /invalid input syntax for type integer/],
  ])('refuse %s for an array of integers', async (json, message) => {
    await warehouse.client.query('CREATE TABLE mart.t (id int, a int[])');
    await engine.run('odd', sql(`SELECT 1 AS id, '${json}'::JSON AS a`));
    await expect(load('APPEND', 'odd')).rejects.toMatchObject({
      kind: 'TARGET',
      message: expect.stringMatching(message),
    });
    expect(await table()).toEqual([]);
  });
});

describe('a missing table', () => {
  it('is made once by several loads at once, and so is its schema', async () => {
    await engine.run('rows', inline([{ id: 1 }]));
    await warehouse.client.query('DROP SCHEMA mart');
    const names = ['mart.t', 'mart.t', 'mart.t', 'mart.t', 'mart.other'];
    const outcomes = await Promise.all(names.map((name) => load('APPEND', 'rows', undefined, name)));
    expect(outcomes.map(({ rows }) => rows)).toEqual([1, 1, 1, 1, 1]);
    expect(await table()).toHaveLength(4);
    expect(await warehouse.rows('SELECT FROM mart.other')).toHaveLength(1);
  });

  it('has the types of the load that made it, also for one that was about to', async () => {
    await engine.run('texts', inline([{ id: '4', name: 'x' }]));
    await warehouse.client.query('BEGIN');
    await warehouse.client.query(
      `SELECT pg_advisory_xact_lock(hashtextextended('opsgraph.create mart.t', 0));
       CREATE TABLE mart.t (id int PRIMARY KEY, name text)`,
    );
    const overtaken = load('UPSERT', 'texts', ['id']);
    await eventually(async () => (await warehouse.rows(WAITING)).length > 0);
    await warehouse.client.query('COMMIT');
    expect(await overtaken).toMatchObject({ rows: 1 });
    expect(await table()).toEqual([{ id: 4, name: 'x' }]);
  });
});

describe('a table that is there', () => {
  it('is not widened by a name that differs by case alone', async () => {
    await warehouse.client.query('CREATE TABLE mart.t (id int, v text)');
    await engine.run('upper', inline([{ id: 1, V: 'x' }]));
    await expect(load('APPEND', 'upper')).rejects.toMatchObject({
      kind: 'TARGET',
      message: expect.stringMatching(/"V" and the column "v" of mart\.t differ by case alone/),
    });
  });

  it.each(['UPSERT', 'MERGE'] as const)(
    'has rows changed by %s that lacks a required column',
    async (mode) => {
      await warehouse.client.query(
        `CREATE TABLE mart.t (id int PRIMARY KEY, name text NOT NULL, n int NOT NULL, made text NOT NULL DEFAULT 'now');
       INSERT INTO mart.t VALUES (1, 'a', 1), (2, 'b', 2)`,
      );
      await engine.run(
        'changes',
        inline([
          { id: 1, n: 10 },
          { id: 2, n: 20 },
        ]),
      );
      expect(await load(mode, 'changes', ['id'])).toMatchObject({ rows: 2 });
      expect(await table()).toEqual([
        { id: 1, name: 'a', n: 10, made: 'now' },
        { id: 2, name: 'b', n: 20, made: 'now' },
      ]);
      await engine.run(
        'news',
        inline([
          { id: 1, n: 100 },
          { id: 3, n: 3 },
        ]),
      );
      await expect(load(mode, 'news', ['id'])).rejects.toMatchObject({
        kind: 'TARGET',
        message: expect.stringMatching(/null value in column "name"/),
      });
      expect(await table()).toMatchObject([{ n: 10 }, { n: 20 }]);
    },
  );

  it('is changed by one UPSERT after the other, while others go on writing', async () => {
    await warehouse.client.query(
      'CREATE TABLE mart.t (id int PRIMARY KEY, n int); INSERT INTO mart.t VALUES (1, 1)',
    );
    await engine.run('turn', inline([{ id: 1, n: 10 }]));
    await warehouse.client.query('BEGIN; LOCK TABLE mart.t IN SHARE UPDATE EXCLUSIVE MODE');
    const loaded = load('UPSERT', 'turn', ['id']);
    await eventually(async () => (await warehouse.rows(WAITING)).length > 0);
    await warehouse.client.query('UPDATE mart.t SET n = n + 1; COMMIT');
    await loaded;
    expect(await table()).toEqual([{ id: 1, n: 10 }]);
    await warehouse.client.query('BEGIN; INSERT INTO mart.t VALUES (2, 2)');
    await load('UPSERT', 'turn', ['id']);
    await warehouse.client.query('COMMIT');
    expect(await table()).toHaveLength(2);
  });

  it('has a row changed that another session adds while the load waits for it', async () => {
    await warehouse.client.query('CREATE TABLE mart.t (id int PRIMARY KEY, name text NOT NULL, n int)');
    await warehouse.client.query(
      "CREATE FUNCTION mart.named() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := 'by trigger'; RETURN NEW; END $$",
    );
    await warehouse.client.query(
      'CREATE TRIGGER named BEFORE INSERT ON mart.t FOR EACH ROW WHEN (NEW.name IS NULL) EXECUTE FUNCTION mart.named()',
    );
    await engine.run('change', inline([{ id: 1, n: 10 }]));
    await warehouse.client.query('BEGIN');
    await warehouse.client.query("INSERT INTO mart.t VALUES (1, 'theirs', 1)");
    const loaded = load('UPSERT', 'change', ['id']);
    await eventually(async () => (await warehouse.rows(WAITING)).length > 0);
    await warehouse.client.query('COMMIT');
    await loaded;
    expect(await table()).toEqual([{ id: 1, name: 'theirs', n: 10 }]);
  });
});

/** Who waits for the test's own transaction. */
const WAITING =
  'SELECT pid FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))';
