import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BatchEngine } from '../../../src/engines/batch/batch-engine.js';
import type { EngineTask, TaskOutcome } from '../../../src/engines/engine.js';
import { EngineError } from '../../../src/engines/engine-error.js';
import { eventually } from '../../support/eventually.js';
import { type EngineFixture, openEngine } from './engine-fixture.js';
import { createWarehouse, type WarehouseFixture } from './postgres-fixture.js';

let engine: EngineFixture;
let shop: WarehouseFixture;
let lake: WarehouseFixture;
let runs = 0;

beforeAll(async () => {
  engine = await openEngine();
  shop = await createWarehouse();
  lake = await createWarehouse();
  engine.connections.set('shop', shop.target);
  engine.connections.set('lake', lake.target);
});
afterAll(async () => {
  await engine.close();
  await shop.close();
  await lake.close();
});
beforeEach(async () => {
  for (const { client } of [shop, lake])
    await client.query('DROP SCHEMA IF EXISTS s CASCADE; CREATE SCHEMA s');
});

/** The unit that a run would carry out, under a name of its own. */
function unit(source: { table: string } | { query: string }): EngineTask {
  const id = `copy${++runs}`;
  const [planned, ...others] = new BatchEngine().plan([
    {
      ...{ id: 'orders', inputs: [], dependsOn: [] },
      spec: { kind: 'source', type: 'postgres', connection: 'shop', ...source },
    },
    {
      ...{ id, inputs: ['orders'], dependsOn: ['orders'] },
      spec: { kind: 'target', type: 'postgres', connection: 'lake', table: 's.orders', mode: 'APPEND' },
    },
  ]);
  expect(planned?.within?.map((task) => task.id)).toEqual(['orders']);
  if (!planned || others.length > 0) throw new Error('not planned as one');
  return planned;
}

const copy = (source: { table: string } | { query: string } = { table: 's.orders' }): Promise<TaskOutcome> =>
  engine.execute(unit(source));
const failure = (outcome: Promise<unknown>) =>
  outcome.then(
    () => undefined,
    (error: unknown) => error as EngineError,
  );
const arrived = () => lake.rows('SELECT * FROM s.orders ORDER BY id');
const straight = () => engine.logs.some(({ message }) => message.includes('rows from orders to s.orders'));

describe('a PostgreSQL source and the target that appends it', () => {
  it('copies values of the same types exactly, whatever they hold, and counts them for both tasks', async () => {
    const columns = `id int, t text, n numeric, f float8, b bytea, at timestamptz, d date, iv interval, j jsonb, u uuid, ip inet, p boolean, a text[]`;
    await shop.client.query(`CREATE TABLE s.orders (${columns})`);
    await lake.client.query(`CREATE TABLE s.orders (extra int DEFAULT 7, ${columns})`);
    await shop.client.query(
      `INSERT INTO s.orders VALUES
       (1, E'tab\\t, "quote", back\\\\slash, \\\\N, line\\nline\\r', 'NaN', 'Infinity', '\\x00ff', '0044-03-15 10:00:00 BC', '-infinity',
        '-1 mon +2 days', '{"a": [1, null]}', gen_random_uuid(), '10.0.0.0/8', true, E'[0:1]={"q\\\\\\"{,}",NULL}'),
       (2, '', 1e100, 0.1, '', now(), 'infinity', '0', 'null', NULL, NULL, NULL, '{{a,b},{"",c}}'),
       (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    );
    engine.logs.length = 0;
    const outcome = await copy();
    expect(outcome).toMatchObject({ rows: 3, output: 's.orders', within: { orders: { rows: 3 } } });
    expect(outcome.columns?.at(-1)).toEqual({ name: 'a', type: 'JSON' });
    expect(outcome.bytes).toBeGreaterThan(100);
    expect(straight()).toBe(true);
    const text = 'SELECT id, t, n, f, b, at, d, iv, j, u, ip, p, a, a::text FROM s.orders ORDER BY id';
    expect(await lake.rows(text)).toEqual(await shop.rows(text));
    expect(await lake.rows('SELECT DISTINCT extra FROM s.orders')).toEqual([{ extra: 7 }]);
  });

  it.each([
    ['makes the table', '', 'id int, t text'],
    ['widens it', 'CREATE TABLE s.orders (id int)', 'id int, t text'],
    ['converts types', 'CREATE TABLE s.orders (id bigint, t varchar(9))', 'id int, t text'],
  ])('%s by way of the run directory when it has to', async (_, target, columns) => {
    await shop.client.query(
      `CREATE TABLE s.orders (${columns}); INSERT INTO s.orders VALUES (1, 'x'), (2, NULL)`,
    );
    await lake.client.query(target);
    engine.logs.length = 0;
    expect(await copy()).toMatchObject({ rows: 2, within: { orders: { rows: 2 } } });
    expect(straight()).toBe(false);
    expect(
      (await arrived()).map((row) => ({ ...(row as object), id: Number((row as { id: string }).id) })),
    ).toEqual([
      { id: 1, t: 'x' },
      { id: 2, t: null },
    ]);
    expect(await copy()).toMatchObject({ rows: 2 });
    expect(await arrived()).toHaveLength(4);
  });

  it('gives arrays to a table that has them where it cannot go straight', async () => {
    const columns = 'id int, a int[], t text[], m money[]';
    await shop.client.query(
      `CREATE TABLE s.orders (${columns}); INSERT INTO s.orders VALUES (1, '{{1,2},{3,NULL}}', '{"a, \\"b\\"",NULL}', '{1}'), (2, NULL, '{}', NULL)`,
    );
    await lake.client.query(`CREATE TABLE s.orders (${columns})`);
    engine.logs.length = 0;
    expect(await copy()).toMatchObject({ rows: 2 });
    expect(straight()).toBe(false);
    expect(await arrived()).toEqual(await shop.rows('SELECT * FROM s.orders ORDER BY id'));
  });

  it('names the task that failed, and leaves the target as it was', async () => {
    await lake.client.query(
      'CREATE TABLE s.orders (id int CHECK (id < 1000)); INSERT INTO s.orders VALUES (0)',
    );
    const divided = await failure(
      copy({ query: 'SELECT 100 / (2000 - i) AS id FROM generate_series(1, 5000) AS i' }),
    );
    expect(divided).toMatchObject({
      kind: 'SOURCE',
      taskId: 'orders',
      message: expect.stringContaining('division by zero'),
    });
    const refused = await failure(copy({ query: 'SELECT generate_series(1, 5000) AS id' }));
    expect(refused).toBeInstanceOf(EngineError);
    expect(refused).toMatchObject({ kind: 'TARGET', message: expect.stringContaining('check constraint') });
    expect(refused?.taskId).toBeUndefined();
    const unknown = await failure(copy({ table: 's.nowhere' }));
    expect(unknown).toMatchObject({ kind: 'SOURCE', taskId: 'orders' });
    expect(await arrived()).toEqual([{ id: 0 }]);
  });

  it('writes once when it is repeated', async () => {
    await lake.client.query('CREATE TABLE s.orders (id int)');
    const task = unit({ query: 'SELECT generate_series(1, 10) AS id' });
    expect(await engine.execute(task)).toMatchObject({ rows: 10 });
    expect(await engine.execute(task)).toMatchObject({ rows: 10, within: { orders: { rows: 10 } } });
    expect(await arrived()).toHaveLength(10);
  });

  it('is interrupted on both servers, and nothing stays', async () => {
    await lake.client.query('CREATE TABLE s.orders (id bigint)');
    const controller = new AbortController();
    const task = unit({ query: 'SELECT i AS id FROM generate_series(1, 1000000000000) AS i' });
    const running = failure(engine.session.execute(task, { signal: controller.signal, log() {} }));
    const busy = async ({ client, target }: WarehouseFixture) => {
      const { rows } = await client.query(
        "SELECT FROM pg_stat_activity WHERE datname = $1 AND state = 'active' AND query LIKE 'COPY%'",
        [target.database],
      );
      return rows.length > 0;
    };
    await eventually(async () => (await busy(shop)) && (await busy(lake)));
    controller.abort();
    expect(await running).toMatchObject({ kind: 'CANCELLED' });
    await eventually(async () => !(await busy(shop)) && !(await busy(lake)));
    expect(await arrived()).toEqual([]);
  });
});
