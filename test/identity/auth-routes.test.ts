import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { createBridge } from 'rest-graphql-bridge';
import { createContext, type RequestContext } from '../../src/context.js';
import { DEMO_PASSWORD, seedDemo } from '../../src/domain/identity/index.js';
import { buildGraph } from '../../src/graph/build-schema.js';
import { AuthResolver } from '../../src/resolvers/identity/auth.resolver.js';
import { createItsmErrors } from '../../src/rest/envelopes/itsm-errors.js';
import { authRoutes } from '../../src/rest/identity/auth.routes.js';
import { listen } from '../oidc/served-issuer.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startNode, type TestNode } from './node.js';

let database: TestDatabase;
let node: TestNode;
let server: Server;
let origin: string;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  await seedDemo(node.services);
  const { itsmTokens } = node.services;
  const errors = createItsmErrors({
    requestId: () => 'req_test',
    path: (request) => `${request.url}`,
    now: () => new Date(),
  });
  const bridge = createBridge<RequestContext>({
    schema: buildGraph([AuthResolver]),
    tables: [authRoutes],
    surfaces: [{ prefix: '/', errors }],
    context: async ({ headers: { authorization } }, access) => {
      const token = access === 'public' ? undefined : authorization?.slice('Bearer '.length);
      const caller = token === undefined ? {} : { itsm: await itsmTokens.verify(token) };
      return createContext(node.services, 'req_test', caller);
    },
  });
  server = createServer((request, response) => bridge.middleware(request, response, () => undefined));
  origin = await listen(server);
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await node.close();
  await database.close();
});

async function post(path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const stored = response.headers.get('cache-control');
  if (response.ok && !path.endsWith('/logout')) expect(stored).toBe('no-store');
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const login = (email: string, password = DEMO_PASSWORD) => post('/v1/auth/login', { email, password });

describe('POST /v1/auth/login', () => {
  it('answers 200 with exactly the fields of the document', async () => {
    const { status, body } = await login('admin@globex.test');
    expect(status).toBe(200);
    expect(body).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresIn: 900,
      tokenType: 'Bearer',
      user: {
        id: expect.stringMatching(/^usr_/),
        email: 'admin@globex.test',
        role: 'tenant_admin',
        organizationId: expect.stringMatching(/^org_/),
      },
    });
  });

  it('gives a token that verifies with the published keys', async () => {
    const { body } = await login('user@acme.test');
    const keys = createRemoteJWKSet(new URL(`${origin}/v1/.well-known/jwks.json`));
    const { payload } = await jwtVerify(String(body['accessToken']), keys, { algorithms: ['RS256'] });
    expect(payload).toMatchObject({ email: 'user@acme.test', role: 'end_user' });
  });

  it.each([
    [{ email: 'nobody@acme.test', password: 'x' }, 401, 'AUTHENTICATION_ERROR', null],
    [{ email: 'admin@acme.test', password: 'x' }, 401, 'AUTHENTICATION_ERROR', null],
    [{ email: '', password: 'x' }, 400, 'VALIDATION_ERROR', { field: 'email', constraint: 'isNotEmpty' }],
    [{ email: 'admin', password: 'x' }, 400, 'VALIDATION_ERROR', { field: 'email', constraint: 'isEmail' }],
    [
      { email: 'a@b.test', password: '' },
      400,
      'VALIDATION_ERROR',
      { field: 'password', constraint: 'isNotEmpty' },
    ],
    [{ email: 'a@b.test' }, 400, 'VALIDATION_ERROR', { field: 'password', constraint: 'isDefined' }],
    [
      { email: 'a@b.test', password: 1 },
      400,
      'VALIDATION_ERROR',
      { field: 'password', constraint: 'isString' },
    ],
    [
      { email: 'a@b.test', password: 'x', admin: true },
      400,
      'VALIDATION_ERROR',
      { field: 'admin', constraint: 'whitelistValidation' },
    ],
  ])('answers %j with %d %s', async (body, status, code, details) => {
    const answer = await post('/v1/auth/login', body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ success: false, error: { code, details, path: '/v1/auth/login' } });
  });

  it('remembers the device by field or header', async () => {
    const credentials = { email: 'agent@acme.test', password: DEMO_PASSWORD };
    const answers = [
      await post('/v1/auth/login', credentials, { 'x-device-fingerprint': 'from-header' }),
      await post('/v1/auth/login', { ...credentials, deviceFingerprint: 'from-field' }),
      await post('/v1/auth/login', credentials),
    ];
    const sessions = answers.map(({ body }) => decodeJwt(String(body['accessToken']))['sessionId']);
    const rows = await database.orm.em.execute<{ id: string; device_fingerprint: string | null }[]>(
      'select id, device_fingerprint from session',
    );
    const devices = sessions.map((id) => rows.find((row) => row.id === id)?.device_fingerprint);
    expect(devices).toEqual(['from-header', 'from-field', null]);
  });
});

describe('POST /v1/auth/refresh and /v1/auth/logout', () => {
  it('exchange and end what login gave', async () => {
    const { body: first } = await login('manager@globex.test');
    const { status, body: second } = await post('/v1/auth/refresh', { refreshToken: first['refreshToken'] });
    expect(status).toBe(200);
    expect(Object.keys(second).sort()).toEqual(['accessToken', 'expiresIn', 'refreshToken', 'tokenType']);

    const authorization = { authorization: `Bearer ${second['accessToken']}` };
    expect(await post('/v1/auth/logout', undefined, authorization)).toEqual({
      status: 200,
      body: { revoked: true, sessionsTerminated: 1, message: 'All active sessions were revoked' },
    });
    for (const answer of [
      await post('/v1/auth/logout', undefined, authorization),
      await post('/v1/auth/refresh', { refreshToken: second['refreshToken'] }),
    ])
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'TOKEN_INVALID' } } });
    expect(await post('/v1/auth/logout')).toMatchObject({
      status: 401,
      body: { error: { code: 'AUTHENTICATION_ERROR' } },
    });
  });
});

describe('GET /v1/.well-known/jwks.json', () => {
  it('answers without credentials and may be cached', async () => {
    const response = await fetch(`${origin}/v1/.well-known/jwks.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await response.json()).toEqual({
      keys: [
        { kty: 'RSA', use: 'sig', alg: 'RS256', kid: expect.any(String), n: expect.any(String), e: 'AQAB' },
      ],
    });
  });
});
