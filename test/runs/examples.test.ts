import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { query } from '../engines/batch/engine-fixture.js';
import { createWarehouse, type WarehouseFixture } from '../engines/batch/postgres-fixture.js';
import { hasMariaDb, startMariaDb } from '../support/mariadb.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');

let house: RunHouse;
let shop: WarehouseFixture;
let api: Server;
let files: string;
const asked: string[] = [];

beforeAll(async () => {
  api = createServer((request, response) => {
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
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  const host = `127.0.0.1:${(api.address() as AddressInfo).port}`;
  house = await openRunHouse({ CONNECTION_ALLOWED_HOSTS: host });
  shop = await createWarehouse();
  const { host: shopHost, port, database, user, password } = shop.target;
  await connect('shop', 'postgres', { host: shopHost, port, database }, { username: user, password });
  await connect('api', 'http', { baseUrl: `http://${host}` });
  files = path.join(house.app.dataDir, 'files');
  await mkdir(files, { recursive: true });
});

afterAll(async () => {
  await house.close();
  await shop.close();
  api.close();
});

async function connect(name: string, type: string, config: object, credentials = {}): Promise<void> {
  const { status, body } = await house.engineer('POST', '/api/v1/connections', {
    name,
    type,
    config,
    credentials,
  });
  expect([status, body]).toEqual([201, expect.anything()]);
}

const create = async (name: string) =>
  house.createPipeline(await readFile(path.join(EXAMPLES, name), 'utf8'));

interface Outcome {
  overallStatus: string;
  rowsRead: number;
  rowsWritten: number;
  error: string | null;
  healing: { strategy: string }[];
  startedAt: string;
  rows: Record<string, number | null>;
  /** What the quality checks found that did not pass. */
  broken: { type: string; failedRows: number }[];
}

async function run(pipelineId: string, parameters: object = {}): Promise<Outcome> {
  const runId = await house.start(pipelineId, { parameters });
  await house.watch(runId, { after: 0 }).closed;
  const { body } = await house.engineer('GET', `/api/v1/runs/${runId}`);
  const graph = await house.engineer('POST', '/graphql', {
    query: `{ run(id: "${runId}") { tasks { taskId rows } quality { type passed failedRows } } }`,
  });
  const { tasks, quality } = graph.body.data.run;
  return {
    ...body,
    rows: Object.fromEntries(tasks.map((task: { taskId: string; rows: number }) => [task.taskId, task.rows])),
    broken: quality.filter(({ passed }: { passed: boolean }) => !passed),
  };
}

const stored = async (sql: string) => (await house.warehouse.query(sql)).rows;

it('customers-upsert.yaml sets rows aside and keeps one row for each customer', async () => {
  const rows = [
    '1;Jan@Example.com;PL;01.02.2020;100.50',
    '1;jan@example.org;PL;05.03.2021;200',
    '2;anna@example.com;DE;31.12.2019;',
    '3;no address;FR;01.01.2022;-5',
    '4;eva@example.com;PL;01.01.2022;much',
    'five;x@example.com;PL;01.01.2022;1',
  ];
  const header = 'customer_id;mail;country;registered_on;credit_limit';
  await writeFile(path.join(files, 'people.csv'), `${header}\n${rows.join('\n')}\n`);
  const outcome = await run(await create('customers-upsert.yaml'), { file: 'people.csv' });
  expect(outcome).toMatchObject({
    overallStatus: 'COMPLETED',
    rowsWritten: 3,
    healing: [{ strategy: 'QUARANTINE' }, { strategy: 'QUARANTINE' }],
    rows: { raw: 5, typed: 4 },
  });
  expect(outcome.broken.map(({ failedRows }) => failedRows)).toEqual([1, 1]);
  const customer = (
    customer_id: number,
    email: string,
    country: string,
    customer_since: string,
    credit_limit: string | null,
  ) => ({
    ...{ customer_id, email, country, customer_since, credit_limit },
  });
  expect(
    await stored(
      'SELECT customer_id::int, email, country, customer_since::text, credit_limit::text FROM mart.customers ORDER BY 1',
    ),
  ).toEqual([
    customer(1, 'jan@example.org', 'PL', '2021-03-05', '200.00'),
    customer(2, 'anna@example.com', 'DE', '2019-12-31', null),
    customer(3, 'no address', 'FR', '2022-01-01', '-5.00'),
  ]);
});

it('incremental-sync.yaml brings over what changed and takes away what was deleted', async () => {
  await shop.client.query(`CREATE TABLE orders (order_id int primary key, customer_id int, state_code text, amount numeric(12,2), deleted boolean, updated_at timestamp);
    INSERT INTO orders VALUES (1, 1, 'N', 10, false, '2026-01-01'), (2, 1, 'P', 20, false, '2026-01-02'), (3, 2, 'S', 30, false, '2026-01-03')`);
  const pipelineId = await create('incremental-sync.yaml');
  const state = () => stored('SELECT order_id, state, amount::text FROM mart.orders ORDER BY 1');
  expect(await run(pipelineId)).toMatchObject({ overallStatus: 'COMPLETED', error: null });
  expect(await state()).toEqual([
    { order_id: 1, state: 'new', amount: '10.00' },
    { order_id: 2, state: 'paid', amount: '20.00' },
    { order_id: 3, state: 'shipped', amount: '30.00' },
  ]);
  await shop.client.query(`UPDATE orders SET deleted = true, updated_at = '2026-02-01' WHERE order_id = 1;
    UPDATE orders SET state_code = 'X', amount = 25, updated_at = '2026-02-02' WHERE order_id = 2`);
  const second = await run(pipelineId);
  expect(second).toMatchObject({
    overallStatus: 'COMPLETED',
    rows: { changed: 2 },
    broken: [{ failedRows: 1 }],
  });
  expect(await state()).toEqual([
    { order_id: 2, state: null, amount: '25.00' },
    { order_id: 3, state: 'shipped', amount: '30.00' },
  ]);
});

it('api-to-lake.yaml reads every page and writes no name', async () => {
  const { overallStatus, startedAt } = await run(await create('api-to-lake.yaml'), { state: 'all' });
  expect(overallStatus).toBe('COMPLETED');
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Warsaw' }).format(new Date(startedAt));
  expect(asked.slice(0, 2).map((parameters) => parameters.replace(/per_page=100&?/, ''))).toEqual([
    expect.stringContaining(`state=all&updated_on=${day}`),
    expect.stringContaining('page=2'),
  ]);
  expect(await query(`FROM '${files}/lake/tickets/${day}.parquet' ORDER BY ticket_id`)).toEqual(
    [0, 50, 100].map((id) => ({
      ticket_id: String(id),
      label: 'vpn',
      requester_name: 'hidden',
      requester_email: expect.stringMatching(/^[0-9a-f]{64}$/),
      day,
    })),
  );
});

(hasMariaDb() ? it : it.skip)('mysql-report.yaml joins and sums up into a file and a table', async () => {
  await using inventory = {
    ...(await startMariaDb()),
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
  const { host, port, database, user, password } = inventory.target;
  await connect('inventory', 'mysql', { host, port, database }, { username: user, password });
  await inventory.run(
    'CREATE TABLE stock (sku varchar(20) primary key, quantity int)',
    'CREATE TABLE products (sku varchar(20) primary key, category varchar(20), price decimal(10,2), discontinued boolean)',
    "INSERT INTO stock VALUES ('a', 3), ('b', 0), ('c', 10), ('d', 1)",
    "INSERT INTO products VALUES ('a', 'toys', 2.50, false), ('b', 'toys', 9, false), ('c', 'books', 1.10, false), ('d', 'books', 100, true)",
  );
  expect(await run(await create('mysql-report.yaml'))).toMatchObject({
    overallStatus: 'COMPLETED',
    error: null,
  });
  expect(await readFile(path.join(files, 'results/stock.csv'), 'utf8')).toBe(
    'category,articles,pieces,worth\nbooks,1,10,11.00\ntoys,1,3,7.50\n',
  );
  const rows = await inventory.rows(
    'SELECT category, pieces, worth FROM stock_by_category ORDER BY category',
  );
  expect(rows.map(({ category, pieces, worth }) => [category, Number(pieces), worth])).toEqual([
    ['books', 10, '11.00'],
    ['toys', 3, '7.50'],
  ]);
});

it('orders.yaml gives what one statement over the files gives, which the generator always makes the same', async () => {
  const generate = (directory: string) =>
    promisify(execFile)(process.execPath, [path.join(EXAMPLES, 'generate-orders.mjs'), directory, '20000']);
  const again = path.join(house.app.dataDir, 'again');
  await Promise.all([generate(files), generate(again)]);
  const digest = async (file: string) =>
    createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  for (const name of ['orders.csv', 'rates.csv'])
    expect(await digest(path.join(again, name))).toBe(await digest(path.join(files, name)));

  const outcome = await run(await create('orders.yaml'));
  expect(outcome).toMatchObject({ overallStatus: 'COMPLETED', error: null, broken: [] });
  const lines = `read_csv('${files}/orders.csv', types = {'amount': 'DECIMAL(12,2)'})`;
  const converted = `(SELECT o.*, upper(trim(o.country)) AS land, (o.amount * r.rate)::DECIMAL(14,2) AS pln FROM (
      SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY updated_at DESC) AS newest FROM ${lines}
      WHERE amount > 0 AND country IS NOT NULL) o
    JOIN read_csv('${files}/rates.csv', types = {'rate': 'DECIMAL(12,6)'}) r ON r.currency = o.currency AND r.valid_on = o.ordered_on
    WHERE newest = 1)`;
  const daily = await query(`FROM '${files}/results/daily.parquet' ORDER BY ordered_on`);
  expect(daily).toHaveLength(90);
  expect(daily).toEqual(
    await query(
      `SELECT ordered_on, count(*) AS orders, count(DISTINCT customer_id) AS customers, sum(pln) AS amount_pln FROM ${converted} GROUP BY 1 ORDER BY 1`,
    ),
  );
  const byCountry = await stored(
    'SELECT ordered_on::text, country, orders::text, amount_pln::text FROM mart.orders_by_country ORDER BY ordered_on, country',
  );
  expect(byCountry).toHaveLength(720);
  expect(byCountry).toEqual(
    await query(
      `SELECT ordered_on, land AS country, count(*) AS orders, sum(pln) AS amount_pln FROM ${converted} GROUP BY 1, 2 ORDER BY 1, 2`,
    ),
  );
});
