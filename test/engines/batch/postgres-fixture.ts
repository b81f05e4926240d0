import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { PostgresConnectionTarget } from '../../../src/engines/engine.js';

export interface WarehouseFixture {
  target: PostgresConnectionTarget;
  client: Client;
  rows(sql: string): Promise<unknown[]>;
  close(): Promise<void>;
}

/** An empty database beside the template: the engine's tests want nothing of the application's tables. */
export async function createWarehouse(): Promise<WarehouseFixture> {
  const template = process.env['TEST_DATABASE_TEMPLATE_URL'];
  if (template === undefined)
    throw new Error('Tests with a database run through jest, whose global set-up starts it.');
  const url = new URL(template);
  const target: PostgresConnectionTarget = {
    type: 'postgres',
    host: url.hostname,
    port: Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: `warehouse_${randomBytes(6).toString('hex')}`,
  };
  const administer = async (sql: string) => {
    const admin = new Client({ ...target, database: 'postgres' });
    await admin.connect();
    await admin.query(sql).finally(() => admin.end());
  };
  await administer(`CREATE DATABASE ${target.database}`);
  const client = new Client(target);
  await client.connect();
  return {
    target,
    client,
    rows: async (sql) => (await client.query(sql)).rows,
    close: async () => {
      await client.end();
      await administer(`DROP DATABASE ${target.database} WITH (FORCE)`);
    },
  };
}
