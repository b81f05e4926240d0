import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Call, caller } from '../support/rest.js';

const SECRET = 'never-shown-anywhere-9f2c';
const absent = '01a1fb3c-6ba4-7748-a964-b27f88c25ee9';

let app: TestApp;
let admin: Call;
let engineer: Call;
let viewer: Call;
let stranger: Call;
let service: Server;
let serviceUrl: string;
let seen: string | undefined;
let status = 200;
let database: { config: Record<string, unknown>; credentials: Record<string, unknown> };

beforeAll(async () => {
  service = createServer((request, response) => {
    seen = request.headers.authorization;
    response.writeHead(status).end('hello');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => service.once('listening', resolve));
  const host = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  serviceUrl = `http://${host}`;
  app = await startTestApp({ CONNECTION_ALLOWED_HOSTS: host });
  const as = async (clientId: string) => caller(app.url, await app.platform(clientId));
  admin = await as('demo-admin');
  engineer = await as('demo-engineer');
  viewer = await as('demo-viewer');
  stranger = await as('demo-globex-engineer');
  const { hostname, port, pathname, username, password } = new URL(app.database.url);
  database = {
    config: { host: hostname, port: Number(port), database: pathname.slice(1) },
    credentials: { username: decodeURIComponent(username), password: decodeURIComponent(password) },
  };
});

afterAll(async () => {
  await app.close();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
});

let count = 0;
async function create(body: object): Promise<string> {
  const answer = await engineer('POST', '/api/v1/connections', { name: `made ${++count}`, ...body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}
const test = async (id: string) => (await engineer('POST', `/api/v1/connections/${id}/test`)).body;

describe('connections over REST', () => {
  it('are made, read, changed and removed; credentials are never answered, stored or audited in clear', async () => {
    const body = {
      type: 'postgres',
      config: { host: 'localhost', database: 'shop' },
      credentials: { username: 'me', password: SECRET },
    };
    const id = await create(body);
    const one = await viewer('GET', `/api/v1/connections/${id}`);
    expect(one.body.config).toEqual({ host: 'localhost', port: 5432, database: 'shop', ssl: false });
    expect(one.body).not.toHaveProperty('credentials');

    const changed = await engineer('PUT', `/api/v1/connections/${id}`, {
      ...one.body,
      name: 'renamed',
      config: { host: 'localhost', database: 'other' },
    });
    expect(changed.body).toMatchObject({ id, name: 'renamed', config: { database: 'other', port: 5432 } });
    const elsewhere = await engineer('PUT', `/api/v1/connections/${id}`, {
      config: { host: 'collector.example', database: 'other' },
    });
    expect(elsewhere.status).toBe(400);
    expect(elsewhere.body.details).toEqual([
      { field: 'credentials', message: 'credentials are required again when config.host changes' },
    ]);
    const found = await viewer('GET', '/api/v1/connections?type=postgres&search=RENAM');
    expect(found.body).toEqual([changed.body]);
    expect((await viewer('GET', '/api/v1/connections?type=kafka')).body).toEqual([]);

    const em = app.services.orm.em.fork();
    const [row] = await em.execute<{ sealed_credentials: string }[]>(
      'select * from connection where id = ?',
      [id],
    );
    expect(JSON.stringify(row)).not.toContain(SECRET);
    expect(JSON.parse(app.services.secrets.open(row?.sealed_credentials ?? ''))).toEqual(body.credentials);
    expect((await admin('DELETE', `/api/v1/connections/${id}`)).status).toBe(204);
    expect((await viewer('GET', `/api/v1/connections/${id}`)).status).toBe(404);
    const audit = await em.execute<{ action: string }[]>(
      'select action, before, after from audit_entry where resource_id = ? order by position',
      [id],
    );
    expect(audit.map(({ action }) => action)).toEqual([
      'connections.created',
      'connections.updated',
      'connections.deleted',
    ]);
    expect(JSON.stringify(audit)).not.toContain(SECRET);
  });

  it('stay while a pipeline refers to them, and the refusal names it', async () => {
    const id = await create({ type: 'file', config: { storage: 'local', root: '.' } });
    const yamlDefinition = `apiVersion: v1
name: numbers
source: { id: numbers, type: inline, rows: [{ n: 1 }] }
target: { id: out, type: file, path: numbers.parquet, mode: OVERWRITE }
`;
    const pipeline = { name: 'uses it', yamlDefinition, targetConnectionId: id };
    const made = await engineer('POST', '/api/v1/pipelines', pipeline);
    const refused = await admin('DELETE', `/api/v1/connections/${id}`);
    expect(refused.status).toBe(409);
    expect(JSON.stringify(refused.body)).toContain(made.body.id);
    expect(JSON.stringify(refused.body)).toContain('uses it');
    await admin('DELETE', `/api/v1/pipelines/${made.body.id}`);
    expect((await admin('DELETE', `/api/v1/connections/${id}`)).status).toBe(204);
  });

  it.each<[string, object, string]>([
    ['an unknown field of config', { config: { host: 'h', database: 'd', sql: 1 } }, 'config.sql'],
    ['a link-local host', { config: { host: '169.254.169.254', database: 'd' } }, 'config.host'],
    [
      'a mapped link-local host',
      { config: { host: '::ffff:169.254.169.254', database: 'd' } },
      'config.host',
    ],
    ['a Unix socket', { config: { host: '/var/run', database: 'd' } }, 'config.host'],
    ['an unknown field', { config: { host: 'h', database: 'd' }, more: 1 }, 'more'],
    [
      'a root outside',
      { type: 'file', config: { storage: 'local', root: '/etc' }, credentials: {} },
      'config.root',
    ],
    [
      'a way outside',
      { type: 'file', config: { storage: 'local', root: '../..' }, credentials: {} },
      'config.root',
    ],
    [
      'a private service',
      { type: 'http', config: { baseUrl: 'https://10.0.0.1' }, credentials: {} },
      'config.baseUrl',
    ],
    [
      'plain HTTP',
      { type: 'http', config: { baseUrl: 'http://example.com' }, credentials: {} },
      'config.baseUrl',
    ],
    [
      'a credential in the URL',
      { type: 'http', config: { baseUrl: 'https://a:b@example.com' }, credentials: {} },
      'config.baseUrl',
    ],
    [
      'a credential in a header',
      {
        type: 'http',
        config: { baseUrl: 'https://example.com', headers: { Authorization: 'x' } },
        credentials: {},
      },
      'config.headers',
    ],
    [
      'a header of the transport for a key',
      {
        type: 'http',
        config: { baseUrl: 'https://example.com', auth: 'apiKey', apiKeyHeader: 'Content-Length' },
        credentials: { apiKey: 'k' },
      },
      'config.apiKeyHeader',
    ],
    [
      'the wrong credentials',
      { type: 'http', config: { baseUrl: 'https://example.com', auth: 'bearer' }, credentials: {} },
      'credentials',
    ],
  ])('refuse %s and name the field', async (_what, body, field) => {
    const whole = { name: 'refused', type: 'postgres', credentials: { username: 'u' }, ...body };
    const answer = await engineer('POST', '/api/v1/connections', whole);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(field);
  });

  it('are for those who may, where they are', async () => {
    const body = { type: 'file', config: { storage: 'local', root: '.' } };
    const id = await create(body);
    expect((await viewer('POST', '/api/v1/connections', { name: 'no', ...body })).status).toBe(403);
    expect((await viewer('POST', `/api/v1/connections/${id}/test`)).status).toBe(403);
    for (const call of ['', '/schema']) {
      expect((await stranger('GET', `/api/v1/connections/${id}${call}`)).status).toBe(404);
      expect((await viewer('GET', `/api/v1/connections/${absent}${call}`)).status).toBe(404);
    }
    expect((await engineer('PUT', `/api/v1/connections/${id}`, { type: 'http' })).status).toBe(400);
    expect((await viewer('GET', '/api/v1/connections?limit=1001')).status).toBe(400);
  });
});

describe('a test', () => {
  it('reaches PostgreSQL, and says why it does not without the password', async () => {
    const id = await create({ type: 'postgres', ...database });
    expect(await test(id)).toEqual({
      success: true,
      message: expect.stringMatching(/^PostgreSQL \d/),
      latencyMs: expect.any(Number),
    });
    const config = { ...database.config, database: 'there_is_none' };
    await engineer('PUT', `/api/v1/connections/${id}`, { config });
    const failed = await test(id);
    expect(failed).toMatchObject({ success: false, message: expect.stringContaining('there_is_none') });
  });

  it.each(['postgres', 'mysql'])('of a %s that nobody answers for is an answer', async (type) => {
    const config = { host: '127.0.0.1', port: 1, database: 'none' };
    const id = await create({ type, config, credentials: { username: 'u', password: SECRET } });
    const answer = await test(id);
    expect(answer).toMatchObject({ success: false, message: expect.stringContaining('ECONNREFUSED') });
    expect((await viewer('GET', `/api/v1/connections/${id}/schema`)).status).toBe(502);
  });

  it('of a service sends its credentials and judges what it answers', async () => {
    const config = { baseUrl: serviceUrl, auth: 'bearer' };
    const id = await create({ type: 'http', config, credentials: { token: SECRET } });
    expect(await test(id)).toMatchObject({ success: true, message: 'The service answers 200.' });
    expect(seen).toBe(`Bearer ${SECRET}`);
    status = 401;
    const refused = await test(id);
    expect(refused).toMatchObject({ success: false, message: expect.stringContaining('401') });
    expect((await viewer('GET', `/api/v1/connections/${id}/schema`)).status).toBe(409);
  });

  it('of a directory that is missing does not show where the server keeps its files', async () => {
    const config = { storage: 'local', root: 'not-there' };
    const { body } = await engineer('POST', '/api/v1/connections', { name: 'gone', type: 'file', config });
    const message = 'ENOENT: no such file or directory.';
    const tested = await engineer('POST', `/api/v1/connections/${body.id}/test`);
    expect(tested.body).toMatchObject({ success: false, message });
    const schema = await engineer('GET', `/api/v1/connections/${body.id}/schema`);
    expect(schema).toMatchObject({
      status: 502,
      body: { message: `The system cannot be read: ${message}` },
    });
  });

  it('of Kafka says that it cannot be made yet', async () => {
    const id = await create({ type: 'kafka', config: { brokers: ['broker:9092'] } });
    expect(await test(id)).toMatchObject({ success: false, message: expect.stringContaining('streaming') });
  });
});

describe('a schema', () => {
  it('shows the tables and columns of PostgreSQL', async () => {
    const client = new Client({ connectionString: app.database.url });
    await client.connect();
    await client.query('create schema shop; create table shop.sale (id int primary key, total numeric(8,2))');
    await client.end();
    const id = await create({ type: 'postgres', ...database });
    const { status, body } = await viewer('GET', `/api/v1/connections/${id}/schema`);
    expect(status).toBe(200);
    expect(body.truncated).toBe(false);
    expect(body.tables).toContainEqual({
      schema: 'shop',
      name: 'sale',
      columns: [
        { name: 'id', type: 'integer', nullable: false, primaryKey: true },
        { name: 'total', type: 'numeric(8,2)', nullable: true, primaryKey: false },
      ],
    });
  });

  it('shows the files below a root with their columns', async () => {
    const directory = path.join(app.dataDir, 'files', 'seen');
    await mkdir(directory, { recursive: true });
    await writeFile(path.join(directory, 'a.csv'), 'n,word\n1,one\n');
    await writeFile(path.join(directory, 'notes.txt'), 'no table');
    const id = await create({ type: 'file', config: { storage: 'local', root: 'seen' } });
    expect(await test(id)).toMatchObject({ success: true });
    const { body } = await viewer('GET', `/api/v1/connections/${id}/schema`);
    expect(body).toEqual({
      tables: [
        {
          schema: '',
          name: 'a.csv',
          columns: [
            { name: 'n', type: 'BIGINT', nullable: true, primaryKey: false },
            { name: 'word', type: 'VARCHAR', nullable: true, primaryKey: false },
          ],
        },
      ],
      truncated: false,
    });
  });
});
