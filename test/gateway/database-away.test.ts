import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, startApp } from '../../src/app.js';
import { parseConfig } from '../../src/config.js';
import { findPostgresBinaries, type PostgresBinaries } from '../../src/database/postgres-binaries.js';
import {
  clusterDirectory,
  openCluster,
  type PostgresCluster,
  SUPERUSER,
} from '../../src/database/postgres-cluster.js';
import { freePort, type Postmaster, startPostmaster } from '../../src/database/postmaster.js';
import { findServerAccount } from '../../src/database/server-account.js';
import { captureLog } from './gateway-server.js';

interface Asked {
  method: string;
  path: string;
  token: 'itsm' | 'platform' | 'none';
  body?: unknown;
}

const ITSM: Asked[] = [
  { method: 'GET', path: '/v1/tickets', token: 'itsm' },
  { method: 'POST', path: '/v1/tickets', token: 'itsm', body: { title: 'a', description: 'b' } },
  { method: 'POST', path: '/v1/auth/login', token: 'none', body: { email: 'a@acme.test', password: 'b' } },
];
const PLATFORM: Asked[] = [
  { method: 'GET', path: '/api/v1/pipelines', token: 'platform' },
  {
    method: 'POST',
    path: '/api/v1/pipelines',
    token: 'platform',
    body: { name: 'a', yamlDefinition: 'apiVersion: v1' },
  },
];

/** The whole server over a PostgreSQL that is stopped and started under it. */
describe('while the database, which is also the job store, is away', () => {
  let dataDir: string;
  let binaries: PostgresBinaries;
  let cluster: PostgresCluster;
  let port: number;
  let postmaster: Postmaster;
  let app: App;
  const tokens = { itsm: '', platform: '', none: '' };

  const boot = () => startPostmaster(binaries.postgres, cluster, port, { fsync: 'off' }, undefined);

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-away-'));
    const account = await findServerAccount(clusterDirectory(dataDir));
    binaries = await findPostgresBinaries(account);
    cluster = await openCluster(dataDir, binaries, account, false);
    port = await freePort();
    postmaster = await boot();
    const url = `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/postgres`;
    const env = { PORT: '0', DATABASE_URL: url, DATA_DIR: path.join(dataDir, 'data'), SEED: 'demo' };
    app = await startApp({ config: parseConfig(env, dataDir), log: captureLog('silent').log });
    tokens.itsm = await itsmToken();
    tokens.platform = await platformToken();
  }, 60_000);

  afterAll(async () => {
    await app?.shutdown.drain('test over');
    await postmaster.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('every operation says so in its envelope, the gateway itself stays up, and all of it heals by itself', async () => {
    for (const asked of [...ITSM, ...PLATFORM]) expect((await ask(asked)).status).not.toBe(503);
    await postmaster.stop();
    for (const asked of ITSM) {
      const response = await ask(asked);
      expect([asked.path, response.status, response.headers.get('retry-after')]).toStrictEqual([
        asked.path,
        503,
        '5',
      ]);
      expect(await response.json()).toStrictEqual({
        success: false,
        error: {
          code: 'SERVICE_UNAVAILABLE',
          message: 'database is unavailable',
          details: { service: 'database', retryAfter: 5 },
          requestId: response.headers.get('x-request-id'),
          timestamp: expect.any(String),
          path: asked.path,
        },
      });
    }
    for (const asked of PLATFORM) {
      const response = await ask(asked);
      expect([asked.path, response.status, response.headers.get('retry-after')]).toStrictEqual([
        asked.path,
        503,
        '5',
      ]);
      expect(await response.json()).toStrictEqual({
        error: 'SERVICE_UNAVAILABLE',
        message: 'database is unavailable',
        service: 'database',
        timestamp: expect.any(String),
      });
    }
    const graph = await ask({ method: 'POST', path: '/graphql', token: 'itsm', body: { query: TICKETS } });
    expect(await graph.json()).toMatchObject({
      errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', details: { service: 'database' } } }],
    });
    expect((await fetch(`${app.url}/health`)).status).toBe(200);

    postmaster = await boot();
    for (const asked of [...ITSM, ...PLATFORM]) {
      const { status } = await ask(asked);
      expect([asked.path, status < 500]).toStrictEqual([asked.path, true]);
    }
  }, 60_000);

  function ask({ method, path: where, token, body }: Asked): Promise<Response> {
    return fetch(app.url + where, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== 'none' && { authorization: `Bearer ${tokens[token]}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async function itsmToken(): Promise<string> {
    const credentials = { email: 'admin@acme.test', password: 'opsgraph-demo' };
    const response = await ask({ method: 'POST', path: '/v1/auth/login', token: 'none', body: credentials });
    const { accessToken } = (await response.json()) as { accessToken: string };
    return accessToken;
  }

  async function platformToken(): Promise<string> {
    const form = {
      grant_type: 'client_credentials',
      client_id: 'demo-admin',
      client_secret: 'opsgraph-demo',
    };
    const response = await fetch(`${app.url}/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    return access_token;
  }
});

const TICKETS = '{ tickets { __typename } }';
