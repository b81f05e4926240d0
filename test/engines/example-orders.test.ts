import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseDefinition } from '../../src/domain/pipelines/definition/index.js';
import { type EngineFixture, execute, openEngine, query } from './batch/engine-fixture.js';
import { createWarehouse, type WarehouseFixture } from './batch/postgres-fixture.js';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
let engine: EngineFixture;
let warehouse: WarehouseFixture;

async function generate(directory: string, rows: number): Promise<void> {
  await promisify(execFile)(process.execPath, [
    join(EXAMPLES, 'generate-orders.mjs'),
    directory,
    String(rows),
  ]);
}

beforeAll(async () => {
  engine = await openEngine();
  warehouse = await createWarehouse();
  engine.connections.set('warehouse', warehouse.target);
  await generate(engine.files, 20_000);
});
afterAll(async () => {
  await engine.close();
  await warehouse.close();
});

it('the generator makes the same bytes every time', async () => {
  await generate(join(engine.directory, 'again'), 20_000);
  const digest = async (path: string) =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  for (const name of ['orders.csv', 'rates.csv']) {
    expect(await digest(join(engine.directory, 'again', name))).toBe(await digest(join(engine.files, name)));
  }
  expect((await readFile(join(engine.files, 'orders.csv'), 'utf8')).split('\n')).toHaveLength(20_002);
});

it('examples/orders.yaml gives what one statement over the files gives', async () => {
  const parsed = parseDefinition(await readFile(join(EXAMPLES, 'orders.yaml'), 'utf8'));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  for (const level of parsed.graph.levels)
    await Promise.all(level.map((task) => execute(engine.session, task)));

  const lines = `read_csv('${engine.files}/orders.csv', types = {'amount': 'DECIMAL(12,2)'})`;
  const converted = `(SELECT o.*, upper(trim(o.country)) AS land, (o.amount * r.rate)::DECIMAL(14,2) AS pln FROM (
      SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY updated_at DESC) AS newest FROM ${lines}
      WHERE amount > 0 AND country IS NOT NULL) o
    JOIN read_csv('${engine.files}/rates.csv', types = {'rate': 'DECIMAL(12,6)'}) r ON r.currency = o.currency AND r.valid_on = o.ordered_on
    WHERE newest = 1)`;
  const daily = await query(`FROM '${engine.files}/results/daily.parquet' ORDER BY ordered_on`);
  expect(daily).toHaveLength(90);
  expect(daily).toEqual(
    await query(
      `SELECT ordered_on, count(*) AS orders, count(DISTINCT customer_id) AS customers, sum(pln) AS amount_pln FROM ${converted} GROUP BY 1 ORDER BY 1`,
    ),
  );
  const byCountry = await warehouse.rows(
    'SELECT ordered_on::text, country, orders::text, amount_pln::text FROM mart.orders_by_country ORDER BY ordered_on, country',
  );
  expect(byCountry).toHaveLength(720);
  expect(byCountry).toEqual(
    await query(
      `SELECT ordered_on, land AS country, count(*) AS orders, sum(pln) AS amount_pln FROM ${converted} GROUP BY 1, 2 ORDER BY 1, 2`,
    ),
  );
});
