import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type Answer, caller } from '../../support/rest.js';

/** Small enough to be used up in a test. */
const LIMITS = {
  RATE_LIMIT_DISABLED: 'false',
  TRUSTED_PROXIES: 'loopback',
  RATE_LIMIT_ORGANIZATION_PER_MINUTE: '60',
  RATE_LIMIT_ORGANIZATION_BURST: '20',
  RATE_LIMIT_ATTEMPT_PER_MINUTE: '4',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '120',
  RATE_LIMIT_ADDRESS_BURST: '40',
  RATE_LIMIT_ADDRESS_AUTH_PER_MINUTE: '30',
  RATE_LIMIT_READ_PER_MINUTE: '10',
  RATE_LIMIT_RUN_STATUS_PER_MINUTE: '15',
  RATE_LIMIT_WRITE_PER_MINUTE: '5',
  RATE_LIMIT_GRAPHQL_PER_MINUTE: '12',
};

let app: TestApp;
let itsm: Record<string, string>;
let other: Record<string, string>;
let platform: Record<string, string>;
let clock = Date.now();
let clients = 0;

beforeAll(async () => {
  app = await startTestApp(LIMITS, { now: () => new Date(clock) });
  itsm = await app.itsm('agent@acme.test');
  other = await app.itsm('agent@globex.test');
  platform = await app.platform('demo-engineer');
});
afterAll(() => app.close());
beforeEach(() => {
  // Every count is over, every bucket full, and no token has expired by it.
  clock += 61_000;
});

/** A client at an address of its own. */
function from(credential: Record<string, string> = {}, address?: string) {
  clients += 1;
  return caller(app.url, { 'x-forwarded-for': address ?? `198.51.100.${clients}`, ...credential });
}

function limitOf({ headers }: Answer): (number | null)[] {
  return ['limit', 'remaining', 'reset'].map((name) => {
    const value = headers.get(`x-ratelimit-${name}`);
    return value === null ? null : Number(value);
  });
}

async function statuses(answers: Promise<Answer>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
const seconds = (ms: number) => Math.ceil(ms / 1_000);

describe('/v1', () => {
  it('lets an organization use its burst and no more, whoever of it asks from wherever', async () => {
    const manager = await app.itsm('manager@acme.test');
    clock += 61_000;
    const asked = many(50, () => from(itsm)('GET', '/v1/tickets?limit=1'));
    const alsoAsked = many(50, () => from(manager)('GET', '/v1/tickets?limit=1'));
    expect(await statuses([...asked, ...alsoAsked])).toEqual({ 200: 20, 429: 80 });
    expect((await from(other)('GET', '/v1/tickets?limit=1')).status).toBe(200);

    const refused = await from(itsm)('GET', '/v1/tickets?limit=1');
    expect(refused.body).toStrictEqual({
      success: false,
      error: {
        code: 'RATE_LIMIT_EXCEEDED',
        message: 'More than 60 requests in 60 seconds',
        details: { limit: 60, window: 60, retryAfter: 1 },
        requestId: refused.headers.get('x-request-id'),
        timestamp: new Date(clock).toISOString(),
        path: '/v1/tickets',
      },
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(limitOf(refused)).toEqual([60, 0, seconds(clock + 1_000)]);
    clock += 1_000;
    expect((await from(itsm)('GET', '/v1/tickets?limit=1')).status).toBe(200);
    expect((await from(itsm)('GET', '/v1/tickets?limit=1')).status).toBe(429);
  });

  it('tells the limit on every answer', async () => {
    const call = from(itsm);
    expect(limitOf(await call('GET', '/v1/tickets'))).toEqual([60, 19, seconds(clock + 1_000)]);
    expect(limitOf(await call('GET', '/v1/tickets/tkt_nothing'))).toEqual([60, 18, seconds(clock + 1_000)]);
    expect(limitOf(await call('POST', '/v1/tickets', { title: 7 }))).toEqual([
      60,
      17,
      seconds(clock + 1_000),
    ]);
    const strangers = from();
    const answers = [
      await strangers('GET', '/v1/tickets'),
      await strangers('GET', '/v1/nothing'),
      await strangers('DELETE', '/v1/tickets'),
      await strangers('OPTIONS', '/v1/tickets'),
      await strangers('GET', '/v1/.well-known/jwks.json'),
      await strangers('GET', '/v1/tickets', undefined, { authorization: 'Bearer nonsense' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 404, 405, 204, 200, 401]);
    expect(answers.map(limitOf)).toEqual(
      [39, 38, 37, 36, 35, 34].map((left) => [120, left, seconds(clock + 500)]),
    );
  });

  it('refuses a flood from one address before it looks at tokens', async () => {
    const call = from({ authorization: 'Bearer nonsense' });
    expect(await statuses(many(200, () => call('GET', '/v1/tickets')))).toEqual({ 401: 40, 429: 160 });
    expect((await from()('GET', '/v1/.well-known/jwks.json')).status).toBe(200);
  });

  it('counts logins by address and account together', async () => {
    const login = (email: string, call: ReturnType<typeof from>, password = 'wrong') =>
      call('POST', '/v1/auth/login', { email, password });
    const call = from();
    const first = await login('user@acme.test', call);
    expect([first.status, limitOf(first)]).toEqual([401, [4, 3, seconds(clock + 60_000)]]);
    const more = await statuses(many(3, () => login(' User@ACME.test', call)));
    expect(more[429]).toBeUndefined();
    const refused = await login('user@acme.test', call, 'opsgraph-demo');
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'RATE_LIMIT_EXCEEDED', details: { limit: 4, window: 60, retryAfter: 60 } } },
    });
    expect(limitOf(refused)).toEqual([4, 0, seconds(clock + 60_000)]);
    expect((await login('nobody@acme.test', call)).status).toBe(401);
    expect((await login('manager@globex.test', from(), 'opsgraph-demo')).status).toBe(200);
  });

  it('counts logins over GraphQL and REST together', async () => {
    const call = from();
    const query = 'mutation { login(input: { email: "none@acme.test", password: "wrong" }) { __typename } }';
    const codes: string[] = [];
    for (const _ of many(5, () => 0)) {
      const { body } = await call('POST', '/graphql', { query });
      codes.push(body.errors[0].extensions.code);
    }
    expect(codes).toEqual([...many(4, () => 'AUTHENTICATION_ERROR'), 'RATE_LIMIT_EXCEEDED']);
    const refused = await call('POST', '/v1/auth/login', { email: 'none@acme.test', password: 'wrong' });
    expect(refused.status).toBe(429);
  });

  it('counts refreshes by address and account', async () => {
    const call = from();
    const { body } = await call('POST', '/v1/auth/login', {
      email: 'manager@globex.test',
      password: 'opsgraph-demo',
    });
    const answers = many(20, () => call('POST', '/v1/auth/refresh', { refreshToken: body.refreshToken }));
    expect(await statuses(answers)).toEqual({ 200: 1, 401: 3, 429: 16 });
  });

  it('counts what is sent from one IPv6 network as one, and believes only the hop a trusted proxy saw', async () => {
    const addresses = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '10.9.9.9, 2001:db8:1:2::3'];
    const left: unknown[] = [];
    for (const address of addresses) left.push(limitOf(await from({}, address)('GET', '/v1/nothing'))[1]);
    left.push(limitOf(await from({}, '2001:db8:1:3::1')('GET', '/v1/nothing'))[1]);
    expect(left).toEqual([39, 38, 37, 39]);
  });
});

describe('/api/v1', () => {
  it('lets one address read one endpoint so often in a minute', async () => {
    const call = from(platform);
    expect(await statuses(many(50, () => call('GET', '/api/v1/pipelines')))).toEqual({ 200: 10, 429: 40 });
    const refused = await call('HEAD', '/api/v1/pipelines');
    expect(refused.status).toBe(429);
    const body = (await call('GET', '/api/v1/pipelines')).body;
    expect(body).toStrictEqual({
      error: 'RATE_LIMITED',
      message: 'More than 10 requests in 60 seconds',
      timestamp: new Date(clock).toISOString(),
      retryAfter: 60,
    });
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(limitOf(refused)).toEqual([10, 0, seconds(clock + 60_000)]);
    const elsewhere = await call('GET', '/api/v1/connections');
    expect([elsewhere.status, ...limitOf(elsewhere)]).toEqual([200, 10, 9, seconds(clock + 60_000)]);
    expect((await from(platform)('GET', '/api/v1/pipelines')).status).toBe(200);
    clock += 59_999;
    expect((await call('GET', '/api/v1/pipelines')).status).toBe(429);
    clock += 1;
    expect((await call('GET', '/api/v1/pipelines')).status).toBe(200);
  });

  it('counts an endpoint by its template, and before it knows who asks', async () => {
    const call = from();
    const id = () => `/api/v1/runs/${crypto.randomUUID()}`;
    expect(await statuses(many(40, () => call('GET', id())))).toEqual({ 401: 15, 429: 25 });
    expect(await statuses(many(40, () => call('POST', `${id()}/cancel`)))).toEqual({ 401: 5, 429: 35 });
    expect(await statuses(many(40, () => call('GET', `/api/v1/no/${Math.random()}`)))).toEqual({
      404: 10,
      429: 30,
    });
  });

  it('refuses an upgrade with the headers of a refusal', async () => {
    const url = `${app.url.replace('http', 'ws')}/api/v1/runs/${crypto.randomUUID()}/stream`;
    const headers = { 'x-forwarded-for': '198.51.100.250' };
    const answers = await Promise.all(
      many(11, async () => {
        const client = new WebSocket(url, { headers });
        const [, response] = await once(client, 'unexpected-response');
        response.resume();
        return response;
      }),
    );
    const refused = answers.filter(({ statusCode }) => statusCode === 429);
    expect(refused).toHaveLength(1);
    expect(refused[0].headers).toMatchObject({
      'retry-after': '60',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(seconds(clock + 60_000)),
    });
  });
});

describe('/graphql', () => {
  const query = '{ __typename }';

  it('counts requests by address, and answers in its own form', async () => {
    const call = from(platform);
    const answers = many(30, () => call('POST', '/graphql', { query }));
    expect(await statuses(answers)).toEqual({ 200: 12, 429: 18 });
    const refused = await call('POST', '/graphql', { query });
    expect(refused.body).toStrictEqual({
      errors: [
        {
          message: 'More than 12 requests in 60 seconds',
          extensions: {
            code: 'RATE_LIMIT_EXCEEDED',
            details: { limit: 12, window: 60, retryAfter: 60 },
            requestId: refused.headers.get('x-request-id'),
          },
        },
      ],
    });
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(limitOf(refused)).toEqual([12, 0, seconds(clock + 60_000)]);
  });

  it("counts an ITSM caller's requests against the organization too", async () => {
    const answers = many(30, () => from(itsm)('POST', '/graphql', { query }));
    expect(await statuses(answers)).toEqual({ 200: 20, 429: 10 });
    expect((await from(itsm)('GET', '/v1/tickets')).status).toBe(429);
    expect((await from(platform)('POST', '/graphql', { query })).status).toBe(200);
  });

  it('counts each operation of a WebSocket', async () => {
    class Client extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols, { headers: { 'x-forwarded-for': '198.51.100.251' } });
      }
    }
    const client = createClient({
      url: `${app.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: Client,
      connectionParams: platform,
      lazy: false,
    });
    const ask = () =>
      new Promise<unknown>((resolve, reject) => {
        client.subscribe({ query }, { next: resolve, error: reject, complete: () => undefined });
      });
    const asked = await Promise.allSettled(many(15, ask));
    // The handshake was the first of twelve.
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(11);
    expect(asked.find((result) => result.status === 'rejected')).toMatchObject({
      reason: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED', details: { limit: 12, retryAfter: 60 } } }],
    });
    expect((await from({}, '198.51.100.251')('POST', '/graphql', { query })).status).toBe(429);
    await client.dispose();
  });
});

it('leaves health and metrics alone', async () => {
  const call = from();
  expect(await statuses(many(50, () => call('GET', '/health')))).toEqual({ 200: 50 });
  expect(limitOf(await call('GET', '/health'))).toEqual([null, null, null]);
});

it('limits the issuer by address', async () => {
  const call = from();
  const discover = () => call('GET', '/oidc/.well-known/openid-configuration');
  expect(await statuses(many(20, discover))).toEqual({ 200: 10, 429: 10 });
});
