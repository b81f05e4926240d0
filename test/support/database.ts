import { randomBytes } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { createOrm } from '../../src/database/orm.js';

export interface TestDatabase {
  url: string;
  orm: MikroORM;
  close(): Promise<void>;
}

/** A migrated, empty database of its own: a clone of the template that the global set-up made. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer((template) => `create database ${name} template ${template}`);
  const url = Object.assign(templateUrl(), { pathname: `/${name}` }).href;
  const orm = await createOrm({ databaseUrl: url, poolSize: 8 });
  const close = async () => {
    await orm.close(true);
    await administer(() => `drop database ${name} with (force)`);
  };
  return { url, orm, close };
}

function templateUrl(): URL {
  const url = process.env['TEST_DATABASE_TEMPLATE_URL'];
  if (url === undefined)
    throw new Error('Tests with a database run through jest, whose global set-up starts it.');
  return new URL(url);
}

/** From a database that is not the template: a template in use cannot be cloned. */
async function administer(statement: (template: string) => string): Promise<void> {
  const url = templateUrl();
  const template = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(statement(template));
  } finally {
    await client.end();
  }
}
