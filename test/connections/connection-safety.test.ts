import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Call, caller } from '../support/rest.js';

let app: TestApp;
let engineer: Call;
let admin: Call;
let observer: Client;
let database: { config: object; credentials: object };

beforeAll(async () => {
  app = await startTestApp();
  engineer = caller(app.url, await app.platform('demo-engineer'));
  admin = caller(app.url, await app.platform('demo-admin'));
  observer = new Client({ connectionString: app.database.url });
  await observer.connect();
  const { hostname, port, pathname, username, password } = new URL(app.database.url);
  database = {
    config: { host: hostname, port: Number(port), database: pathname.slice(1) },
    credentials: { username: decodeURIComponent(username), password: decodeURIComponent(password) },
  };
});

afterAll(async () => {
  await observer.end();
  await app.close();
});

/** Not asked by who holds the lock: a transaction sees the same activity all the time. */
const waitingForLock = () =>
  eventually(async () => {
    const { rows } = await observer.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'",
    );
    return rows.length > 0;
  });

describe('connections', () => {
  it('are locked while a pipeline that refers to them is written', async () => {
    const { body } = await engineer('POST', '/api/v1/connections', {
      name: 'going',
      type: 'postgres',
      ...database,
    });
    const remover = new Client({ connectionString: app.database.url });
    await remover.connect();
    await remover.query('BEGIN');
    await remover.query('SELECT FROM "connection" WHERE "id" = $1 FOR UPDATE', [body.id]);
    const creating = engineer('POST', '/api/v1/pipelines', {
      name: 'late',
      yamlDefinition: 'name: late',
      sourceConnectionId: body.id,
    });
    await waitingForLock();
    await remover.query('DELETE FROM "connection" WHERE "id" = $1', [body.id]);
    await remover.query('COMMIT');
    await remover.end();
    const answer = await creating;
    expect([answer.status, answer.body.details]).toEqual([
      400,
      [expect.objectContaining({ field: 'sourceConnectionId' })],
    ]);
  });

  it('stay when a pipeline that refers to them is being written', async () => {
    const { body } = await engineer('POST', '/api/v1/connections', {
      name: 'staying',
      type: 'postgres',
      ...database,
    });
    const pipeline = await engineer('POST', '/api/v1/pipelines', {
      name: 'early',
      yamlDefinition: 'name: early',
    });
    const writer = new Client({ connectionString: app.database.url });
    await writer.connect();
    await writer.query('BEGIN');
    await writer.query('SELECT FROM "connection" WHERE "id" = $1 FOR SHARE', [body.id]);
    await writer.query('UPDATE "pipeline" SET "source_connection_id" = $1 WHERE "id" = $2', [
      body.id,
      pipeline.body.id,
    ]);
    const removing = admin('DELETE', `/api/v1/connections/${body.id}`);
    await waitingForLock();
    await writer.query('COMMIT');
    await writer.end();
    const answer = await removing;
    expect(answer).toMatchObject({
      status: 409,
      body: { pipelines: [{ id: pipeline.body.id, name: 'early' }] },
    });
  });

  it('whose credentials were sealed with another key say that they are to be given anew', async () => {
    const { body } = await engineer('POST', '/api/v1/connections', {
      name: 'old',
      type: 'postgres',
      ...database,
    });
    await app.services.orm.em
      .fork()
      .execute(
        `UPDATE "connection" SET "sealed_credentials" = overlay("sealed_credentials" placing 'AAAAAAAA' from 20) WHERE "id" = ?`,
        [body.id],
      );
    for (const [method, where, changes] of [
      ['POST', '/test', undefined],
      ['GET', '/schema', undefined],
      ['PUT', '', { config: { ...database.config, ssl: false } }],
    ] as const) {
      const answer = await engineer(method, `/api/v1/connections/${body.id}${where}`, changes);
      expect([answer.status, answer.body.error, answer.body.message]).toEqual([
        409,
        'CONFLICT',
        expect.stringContaining('give them anew'),
      ]);
    }
    const again = await engineer('PUT', `/api/v1/connections/${body.id}`, {
      credentials: database.credentials,
    });
    expect(again.status).toBe(200);
    expect((await engineer('POST', `/api/v1/connections/${body.id}/test`)).body.success).toBe(true);
  });
});
