import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { startTestApp, type TestApp } from '../support/app.js';
import { caller } from '../support/rest.js';

const BROWSER = { 'x-browser-login': '1' };
const login = { email: 'admin@acme.test', password: 'opsgraph-demo' };

let app: TestApp;
let anybody: ReturnType<typeof caller>;

beforeAll(async () => {
  app = await startTestApp();
  anybody = caller(app.url);
});

afterAll(() => app.close());

async function signIn() {
  const answer = await anybody('POST', '/v1/auth/login', login, BROWSER);
  const [header = ''] = answer.headers.getSetCookie();
  return { answer, header, cookie: header.slice(0, header.indexOf(';')) };
}

function refused(
  answer: { status: number; body: { error: { code: string } } },
  status: number,
  code: string,
) {
  expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
}

describe('a browser login', () => {
  it('sets the cookie that no script reads, only over TLS and only for our own pages', async () => {
    const { answer, header } = await signIn();
    expect(answer.status).toBe(200);
    expect(header).toBe(
      `itsm_auth_token=${answer.body.accessToken}; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Strict`,
    );
    const other = await anybody('POST', '/v1/auth/login', login);
    expect(other.headers.getSetCookie()).toEqual([]);
  });

  it('goes on with a refresh and ends with the logout', async () => {
    const { answer, cookie } = await signIn();
    const { refreshToken } = answer.body;
    const next = await anybody('POST', '/v1/auth/refresh', { refreshToken }, BROWSER);
    expect(next.headers.getSetCookie()[0]).toContain(`itsm_auth_token=${next.body.accessToken};`);
    const sent = { cookie, 'sec-fetch-site': 'same-origin' };
    const out = await anybody('POST', '/v1/auth/logout', undefined, sent);
    expect(out.status).toBe(200);
    expect(out.headers.getSetCookie()).toEqual([
      'itsm_auth_token=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict',
    ]);
    refused(await anybody('GET', '/v1/tickets', undefined, { cookie }), 401, 'TOKEN_INVALID');
  });

  it('works over GraphQL as well', async () => {
    const query = `mutation { login(input: { email: "${login.email}", password: "${login.password}" }) {
      ... on LoginResult { accessToken } } }`;
    const { headers, body } = await anybody('POST', '/graphql', { query }, BROWSER);
    expect(headers.getSetCookie()[0]).toContain(`itsm_auth_token=${body.data.login.accessToken};`);
    const stale = { ...BROWSER, cookie: 'itsm_auth_token=stale' };
    expect((await anybody('POST', '/graphql', { query }, stale)).body.errors).toBeUndefined();
  });

  it('is for the users of the organization whose page it is', async () => {
    const at = (more: Record<string, string>) => anybody('POST', '/v1/auth/login', login, more);
    expect((await at({ origin: 'http://acme.localhost:4000' })).status).toBe(200);
    expect((await at({ origin: 'http://www.localhost:4000' })).status).toBe(200);
    expect((await at({ origin: 'http://globex.example.test' })).status).toBe(200);
    expect((await at({ 'x-tenant-slug': 'acme', origin: 'http://globex.localhost' })).status).toBe(200);
    const wrong = await anybody('POST', '/v1/auth/login', { ...login, password: 'wrong' });
    for (const more of [
      { origin: 'http://globex.localhost:4000' },
      { 'x-tenant-slug': 'globex' },
      { 'x-tenant-slug': 'nobody' },
    ] as Record<string, string>[]) {
      const answer = await at(more);
      refused(answer, 401, 'AUTHENTICATION_ERROR');
      expect(answer.body.error.message).toBe(wrong.body.error.message);
    }
  });
});

describe('the cookie', () => {
  const ticket = { title: 'by cookie', priority: 'low' };

  it('is a token of /v1 and /graphql, after the Authorization header, and of nothing else', async () => {
    const { cookie } = await signIn();
    expect((await anybody('GET', '/v1/tickets', undefined, { cookie })).status).toBe(200);
    refused(
      await anybody('GET', '/v1/tickets', undefined, { cookie, authorization: 'Bearer bad' }),
      401,
      'TOKEN_INVALID',
    );
    refused(
      await anybody('GET', '/v1/tickets', undefined, { cookie, authorization: '' }),
      401,
      'TOKEN_INVALID',
    );
    refused(
      await anybody('GET', '/v1/tickets', undefined, { cookie: `${cookie}; itsm_auth_token=tossed` }),
      401,
      'TOKEN_INVALID',
    );
    expect((await anybody('GET', '/api/v1/pipelines', undefined, { cookie })).status).toBe(401);
    const graph = await anybody(
      'POST',
      '/graphql',
      { query: '{ tickets { data { id } } }' },
      { cookie, origin: app.url },
    );
    expect(graph.body.errors).toBeUndefined();
  });

  it.each<[string, (url: string) => Record<string, string>, number]>([
    ['our own page', () => ({ 'sec-fetch-site': 'same-origin' }), 201],
    ['our own page in a browser without Sec-Fetch-Site', (url) => ({ origin: url }), 201],
    ['another site', () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' }), 403],
    ['another site that hides', () => ({ origin: 'null' }), 403],
    ['a neighbouring subdomain', () => ({ 'sec-fetch-site': 'same-site' }), 403],
    ['another site in an old browser', () => ({ origin: 'https://evil.test' }), 403],
    ['nobody knows where', () => ({}), 403],
  ])('writes for %s', async (_where, headers, status) => {
    const { cookie } = await signIn();
    const more = { cookie, ...headers(app.url) };
    const answer = await anybody('POST', '/v1/tickets', ticket, more);
    expect(answer.status).toBe(status);
    if (status === 403) refused(answer, 403, 'AUTHORIZATION_ERROR');
    const query = 'mutation { createTicket(input: { title: "x", priority: low }) { id } }';
    const graph = await anybody('POST', '/graphql', { query }, more);
    expect(graph.body.errors?.[0]?.extensions.code).toBe(status === 403 ? 'AUTHORIZATION_ERROR' : undefined);
  });

  it('opens a WebSocket for our own page only', async () => {
    const { cookie } = await signIn();
    const open = async (headers: Record<string, string>) => {
      const url = `${app.url.replace('http', 'ws')}/graphql`;
      const socket = new WebSocket(url, 'graphql-transport-ws', { headers: { cookie, ...headers } });
      await once(socket, 'open');
      const outcome = Promise.race([
        once(socket, 'message').then(([data]) => JSON.parse(String(data)).type as string),
        once(socket, 'close').then(([code, reason]) => `${code} ${String(reason)}`),
      ]);
      socket.send(JSON.stringify({ type: 'connection_init' }));
      const said = await outcome;
      socket.terminate();
      return said;
    };
    expect(await open({ origin: app.url })).toBe('connection_ack');
    expect(await open({ origin: 'https://evil.test' })).toBe('4401 AUTHORIZATION_ERROR');
    expect(await open({ origin: 'https://evil.test', 'sec-fetch-site': 'same-origin' })).toBe(
      '4401 AUTHORIZATION_ERROR',
    );
    expect(await open({})).toBe('4401 AUTHORIZATION_ERROR');
  });
});
