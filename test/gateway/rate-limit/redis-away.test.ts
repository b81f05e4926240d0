import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { type Call, caller } from '../../support/rest.js';
import { captureLog } from '../gateway-server.js';
import { hasRedis, type RedisServer, startRedis } from './redis-server.js';

const LIMITS = { RATE_LIMIT_DISABLED: 'false', RATE_LIMIT_READ_PER_MINUTE: '10' };

let redis: RedisServer;
let app: TestApp;
let call: Call;
const { log, lines } = captureLog('info');

/** Its redis lines, in order. */
const told = () => lines.map(({ msg }) => msg).filter((msg) => /Redis/.test(String(msg)));

async function start(env: Record<string, string>): Promise<void> {
  lines.length = 0;
  app = await startTestApp({ ...LIMITS, REDIS_URL: redis.url, ...env }, { log });
  call = caller(app.url, await app.platform('demo-engineer'));
}

const ask = (more?: Record<string, string>) => call('GET', '/api/v1/pipelines', undefined, more);
const askMany = (count: number) => Promise.all(Array.from({ length: count }, () => ask()));

async function passing(count: number): Promise<number> {
  return (await askMany(count)).filter(({ status }) => status === 200).length;
}

(hasRedis() ? describe : describe.skip)('with Redis as the store', () => {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.close());
  afterEach(async () => {
    await app.close();
    await redis.stop();
    await redis.start();
  });

  it('two nodes let as much pass as one', async () => {
    await start({});
    const second = await startTestApp({ ...LIMITS, REDIS_URL: redis.url });
    const there = caller(second.url, await second.platform('demo-engineer'));
    const answers = await Promise.all([
      ...Array.from({ length: 25 }, () => ask()),
      ...Array.from({ length: 25 }, () => there('GET', '/api/v1/pipelines')),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
    await second.close();
  });

  it('fails open: everything passes while Redis is away, and is counted as soon as it is back', async () => {
    await start({});
    expect(await passing(20)).toBe(10);
    await redis.stop();
    expect(await passing(30)).toBe(30);
    const answer = await ask();
    expect(answer.headers.get('x-ratelimit-limit')).toBe('10');
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('10');
    await redis.start();
    await eventually(async () => (await ask()).headers.get('x-ratelimit-remaining') !== '10');
    expect(await passing(20)).toBeLessThan(10);
    expect(told()).toEqual(['Redis is away', 'Redis is back']);
  });

  it('fails closed: 503 with Retry-After, and heals by itself', async () => {
    await start({ RATE_LIMIT_FAIL: 'closed' });
    await redis.stop();
    const refused = await ask();
    expect(refused).toMatchObject({
      status: 503,
      body: { error: 'SERVICE_UNAVAILABLE', service: 'rate-limit' },
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    const user = caller(app.url);
    const login = await user('POST', '/v1/auth/login', { email: 'a@acme.test', password: 'b' });
    expect(login).toMatchObject({
      status: 503,
      body: { error: { code: 'SERVICE_UNAVAILABLE', details: { service: 'rate-limit', retryAfter: 1 } } },
    });
    await redis.start();
    await eventually(async () => (await ask()).status === 200);
  });

  it('does not let requests wait for a Redis that stands still', async () => {
    await start({});
    await ask();
    redis.freeze();
    const started = performance.now();
    await askMany(5);
    const first = performance.now() - started;
    // From here on nobody waits at all: 60 one after the other at 75 ms each would be 4.5 s.
    for (let count = 0; count < 60; count += 1) expect((await ask()).status).toBe(200);
    expect(performance.now() - started - first).toBeLessThan(2_000);
    expect(first).toBeLessThan(1_000);
    redis.thaw();
    await eventually(async () => (await ask()).headers.get('x-ratelimit-remaining') !== '10');
    expect(told()).toEqual(['Redis is away', 'Redis is back']);
  });

  it('starts without Redis, and takes it up when it comes', async () => {
    await redis.stop();
    await start({});
    expect(await passing(15)).toBe(15);
    await redis.start();
    await eventually(async () => (await ask()).headers.get('x-ratelimit-remaining') !== '10');
    expect(await passing(20)).toBeLessThan(10);
  });
});
