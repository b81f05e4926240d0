import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compileDefinition } from '../../src/domain/pipelines/index.js';
import type { TaskOutcome } from '../../src/engines/engine.js';
import { hasMariaDb, startMariaDb } from '../support/mariadb.js';
import { type EngineFixture, openEngine, query } from './batch/engine-fixture.js';
import { createWarehouse, type WarehouseFixture } from './batch/postgres-fixture.js';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
let warehouse: WarehouseFixture;
let shop: WarehouseFixture;

beforeAll(async () => {
  [warehouse, shop] = await Promise.all([createWarehouse(), createWarehouse()]);
});
afterAll(() => Promise.all([warehouse?.close(), shop?.close()]));

/** Runs an example's tasks level by level, as a run would: each with the watermark of the run before. */
async function run(
  engine: EngineFixture,
  name: string,
  params: Record<string, unknown> = {},
  watermarks: Record<string, string | undefined> = {},
): Promise<Record<string, TaskOutcome>> {
  const { graph } = compileDefinition(await readFile(join(EXAMPLES, name), 'utf8'), {
    params,
    builtIns: {
      'run.id': '01a1fb3c-6ba4-7748-a964-b27f88c25ee9',
      'run.startedAt': '2026-11-21T06:00:00.000Z',
      'schedule.date': '2026-11-21',
      'pipeline.name': name,
      'workspace.slug': 'default',
    },
    env: {},
  });
  const outcomes: Record<string, TaskOutcome> = {};
  for (const level of graph.levels) {
    await Promise.all(
      level.map(async (task) => {
        const watermark = watermarks[task.id];
        outcomes[task.id] = await engine.execute(task, watermark === undefined ? {} : { watermark });
      }),
    );
  }
  return outcomes;
}

const failed = (outcomes: Record<string, TaskOutcome>) =>
  Object.values(outcomes).flatMap(({ checks }) => checks?.filter(({ passed }) => !passed) ?? []);

describe('examples', () => {
  it('customers-upsert.yaml sets rows aside and keeps one row for each customer', async () => {
    const engine = await openEngine();
    engine.connections.set('warehouse', warehouse.target);
    const rows = [
      '1;Jan@Example.com;PL;01.02.2020;100.50',
      '1;jan@example.org;PL;05.03.2021;200',
      '2;anna@example.com;DE;31.12.2019;',
      '3;no address;FR;01.01.2022;-5',
      '4;eva@example.com;PL;01.01.2022;much',
      'five;x@example.com;PL;01.01.2022;1',
    ];
    await writeFile(
      join(engine.files, 'people.csv'),
      `customer_id;mail;country;registered_on;credit_limit\n${rows.join('\n')}\n`,
    );
    const outcomes = await run(engine, 'customers-upsert.yaml', { file: 'people.csv' });
    expect(
      await warehouse.rows(
        'SELECT customer_id::int, email, country, customer_since::text, credit_limit::text FROM mart.customers ORDER BY 1',
      ),
    ).toEqual([
      {
        customer_id: 1,
        email: 'jan@example.org',
        country: 'PL',
        customer_since: '2021-03-05',
        credit_limit: '200.00',
      },
      {
        customer_id: 2,
        email: 'anna@example.com',
        country: 'DE',
        customer_since: '2019-12-31',
        credit_limit: null,
      },
      {
        customer_id: 3,
        email: 'no address',
        country: 'FR',
        customer_since: '2022-01-01',
        credit_limit: '-5.00',
      },
    ]);
    expect([outcomes['raw']?.rows, outcomes['typed']?.rows]).toEqual([5, 4]);
    expect(failed(outcomes).map(({ index, failedRows }) => [index, failedRows])).toEqual([
      [3, 1],
      [4, 1],
    ]);
    await engine.close();
  });

  it('incremental-sync.yaml brings over what changed and takes away what was deleted', async () => {
    await shop.client.query(`CREATE TABLE orders (order_id int primary key, customer_id int, state_code text, amount numeric(12,2), deleted boolean, updated_at timestamp);
      INSERT INTO orders VALUES (1, 1, 'N', 10, false, '2026-01-01'), (2, 1, 'P', 20, false, '2026-01-02'), (3, 2, 'S', 30, false, '2026-01-03')`);
    const sync = async (watermark?: string) => {
      const engine = await openEngine({ runId: `sync-${watermark ?? 'first'}` });
      engine.connections.set('shop', shop.target).set('warehouse', warehouse.target);
      const outcomes = await run(engine, 'incremental-sync.yaml', {}, { changed: watermark });
      await engine.close();
      return outcomes;
    };
    const state = () => warehouse.rows('SELECT order_id, state, amount::text FROM mart.orders ORDER BY 1');
    const first = await sync();
    expect(await state()).toEqual([
      { order_id: 1, state: 'new', amount: '10.00' },
      { order_id: 2, state: 'paid', amount: '20.00' },
      { order_id: 3, state: 'shipped', amount: '30.00' },
    ]);
    await shop.client.query(`UPDATE orders SET deleted = true, updated_at = '2026-02-01' WHERE order_id = 1;
      UPDATE orders SET state_code = 'X', amount = 25, updated_at = '2026-02-02' WHERE order_id = 2`);
    const second = await sync(first['changed']?.watermark);
    expect(second['changed']?.rows).toBe(2);
    expect(await state()).toEqual([
      { order_id: 2, state: null, amount: '25.00' },
      { order_id: 3, state: 'shipped', amount: '30.00' },
    ]);
    expect(failed(second)).toMatchObject([{ index: 1, failedRows: 1 }]);
  });

  it('api-to-lake.yaml reads every page and writes no name', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://localhost');
      asked.push(searchParams.toString());
      const page = Number(searchParams.get('page'));
      const ids = page === 1 ? Array.from({ length: 100 }, (_, n) => n) : page === 2 ? [100] : [];
      const data = ids.map((id) => ({
        id,
        title: `t${id}`,
        requester: { name: "Jan O'Hara", email: 'jan@example.com' },
        labels: id % 50 === 0 ? ['vpn', 'internal:x'] : [],
        closed_at: '2026-11-21T05:00:00',
      }));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const engine = await openEngine();
    const { port } = server.address() as AddressInfo;
    engine.connections.set('api', {
      type: 'http',
      baseUrl: `http://127.0.0.1:${port}`,
      headers: {},
      allowPrivate: true,
    });
    try {
      await run(engine, 'api-to-lake.yaml', { state: 'all' });
      expect(asked.slice(0, 2).map((query) => query.replace(/per_page=100&?/, ''))).toEqual([
        expect.stringContaining('state=all&updated_on=2026-11-21'),
        expect.stringContaining('page=2'),
      ]);
      const rows = await query(`FROM '${engine.files}/lake/tickets/2026-11-21.parquet' ORDER BY ticket_id`);
      expect(rows).toEqual(
        [0, 50, 100].map((id) => ({
          ticket_id: String(id),
          label: 'vpn',
          requester_name: 'hidden',
          requester_email: expect.stringMatching(/^[0-9a-f]{64}$/),
          day: '2026-11-21',
        })),
      );
    } finally {
      await engine.close();
      server.close();
    }
  });

  (hasMariaDb() ? it : it.skip)('mysql-report.yaml joins and sums up into a file and a table', async () => {
    await using inventory = {
      ...(await startMariaDb()),
      [Symbol.asyncDispose]() {
        return this.close();
      },
    };
    await inventory.run(
      'CREATE TABLE stock (sku varchar(20) primary key, quantity int)',
      'CREATE TABLE products (sku varchar(20) primary key, category varchar(20), price decimal(10,2), discontinued boolean)',
      "INSERT INTO stock VALUES ('a', 3), ('b', 0), ('c', 10), ('d', 1)",
      "INSERT INTO products VALUES ('a', 'toys', 2.50, false), ('b', 'toys', 9, false), ('c', 'books', 1.10, false), ('d', 'books', 100, true)",
    );
    const engine = await openEngine();
    engine.connections.set('inventory', inventory.target);
    await run(engine, 'mysql-report.yaml');
    expect(await readFile(join(engine.files, 'results/stock.csv'), 'utf8')).toBe(
      'category,articles,pieces,worth\nbooks,1,10,11.00\ntoys,1,3,7.50\n',
    );
    const rows = await inventory.rows(
      'SELECT category, pieces, worth FROM stock_by_category ORDER BY category',
    );
    expect(rows.map(({ category, pieces, worth }) => [category, Number(pieces), worth])).toEqual([
      ['books', 10, '11.00'],
      ['toys', 3, '7.50'],
    ]);
    await engine.close();
  });
});
