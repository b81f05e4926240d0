import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { migrate } from '../../src/database/migrate.js';
import { createOrm } from '../../src/database/orm.js';
import { requireWall } from '../../src/database/roles.js';
import { REQUEST_ROLE, SYSTEM_ROLE } from '../../src/entities/row-security.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let owner: string;

/** A database of somebody who is no superuser, as a hosted one is. */
beforeEach(async () => {
  database = await createTestDatabase();
  owner = `owner_${randomBytes(6).toString('hex')}`;
  await execute(`create role ${owner} login password 'x'`);
  await execute(`create database ${owner} owner ${owner}`);
});

afterEach(async () => {
  await execute(`drop database ${owner} with (force)`);
  await execute(`drop role ${owner}`);
  await database.close();
});

function execute(sql: string): Promise<unknown> {
  return database.orm.em.fork().execute(sql);
}

function databaseUrl(): string {
  return Object.assign(new URL(database.url), { pathname: `/${owner}`, username: owner, password: 'x' }).href;
}

describe('a DATABASE_URL of no superuser', () => {
  it('migrates and serves once it is a member of the roles that serve', async () => {
    await execute(`grant ${REQUEST_ROLE}, ${SYSTEM_ROLE} to ${owner}`);
    const orm = await createOrm({ databaseUrl: databaseUrl(), poolSize: 1, role: REQUEST_ROLE });
    try {
      await migrate(orm);
      await requireWall(orm);
    } finally {
      await orm.close(true);
    }
  });

  it('is told what an administrator has to do as long as it is not', async () => {
    const orm = await createOrm({ databaseUrl: databaseUrl(), poolSize: 1 });
    try {
      await expect(migrate(orm)).rejects.toThrow(
        /may not create roles.*grant opsgraph_app, opsgraph_system to/,
      );
    } finally {
      await orm.close(true);
    }
  });

  it('serves no request by itself: it owns the tables', async () => {
    await execute(`grant ${REQUEST_ROLE}, ${SYSTEM_ROLE} to ${owner}`);
    const orm = await createOrm({ databaseUrl: databaseUrl(), poolSize: 1 });
    try {
      await migrate(orm);
      await expect(requireWall(orm)).rejects.toThrow(`Requests would be served as ${owner}`);
    } finally {
      await orm.close(true);
    }
  });
});
