import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pino } from 'pino';
import {
  bucketOf,
  type Claim,
  type Limit,
  type LimitStore,
  type Standing,
  windowOf,
} from '../../../src/gateway/rate-limit/limit.js';
import { createMemoryStore } from '../../../src/gateway/rate-limit/memory-store.js';
import { createRedisStore } from '../../../src/gateway/rate-limit/redis-store.js';
import { hasRedis, type RedisServer, startRedis } from './redis-server.js';

const log = pino({ level: 'silent' });
const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const redisIsHere = hasRedis();
const stores = redisIsHere ? ['memory', 'Redis'] : ['memory'];

let redis: RedisServer | undefined;
let clock = START;
let keys = 0;

beforeAll(async () => {
  if (redisIsHere) redis = await startRedis();
});
afterAll(() => redis?.close());
beforeEach(() => {
  clock = START;
});

function openStore(kind: string): LimitStore | Promise<LimitStore> {
  const now = () => clock;
  // A busy machine is no reason to fail a test about counting.
  return redis && kind === 'Redis'
    ? createRedisStore({ url: redis.url, log, now, timeoutMs: 10_000 })
    : createMemoryStore(now);
}

function claim(limit: Limit): Claim {
  keys += 1;
  return { key: `test ${keys}`, limit };
}

async function one(store: LimitStore, what: Claim): Promise<Standing> {
  const [standing] = await store.take([what]);
  if (!standing) throw new Error('no standing');
  return standing;
}

async function passing(requests: (readonly Standing[] | Promise<readonly Standing[]>)[]): Promise<number> {
  const standings = await Promise.all(requests);
  return standings.filter((all) => all.every(({ allowed }) => allowed)).length;
}

describe.each(stores)('the %s store', (kind) => {
  let store: LimitStore;
  beforeAll(async () => {
    store = await openStore(kind);
  });
  afterAll(() => store.close());

  it.each([
    ['window', windowOf(100)],
    ['bucket', bucketOf(3_000, 100)],
  ])('lets exactly as many pass as a %s allows when five times as many come at once', async (_, limit) => {
    const what = claim(limit);
    expect(await passing(Array.from({ length: 500 }, () => store.take([what])))).toBe(100);
    expect((await one(store, what)).allowed).toBe(false);
  });

  it('counts down, and says when the next one passes', async () => {
    const what = claim(windowOf(2));
    expect(await one(store, what)).toEqual({ allowed: true, remaining: 1, freesInMs: 60_000 });
    clock += 20_000;
    expect(await one(store, what)).toEqual({ allowed: true, remaining: 0, freesInMs: 40_000 });
    clock += 1_500;
    expect(await one(store, what)).toEqual({ allowed: false, remaining: 0, freesInMs: 38_500 });
    clock += 38_499;
    expect((await one(store, what)).allowed).toBe(false);
    clock += 1;
    expect(await one(store, what)).toEqual({ allowed: true, remaining: 0, freesInMs: 20_000 });
  });

  it('slides: what was used late in one minute is missing in the next', async () => {
    const what = claim(windowOf(10));
    const burst = () => passing(Array.from({ length: 10 }, () => store.take([what])));
    clock += 59_000;
    expect(await burst()).toBe(10);
    clock += 2_000;
    expect(await burst()).toBe(0);
    clock += 58_000;
    expect(await burst()).toBe(10);
  });

  it('fills a bucket at an even rate, up to its burst', async () => {
    const what = claim(bucketOf(600, 3));
    const standings: Standing[] = [];
    for (const wait of [0, 0, 0, 0, 99, 1, 250, 0, 0]) {
      clock += wait;
      standings.push(await one(store, what));
    }
    expect(standings.map(({ allowed, remaining, freesInMs }) => [allowed, remaining, freesInMs])).toEqual([
      [true, 2, 100],
      [true, 1, 100],
      [true, 0, 100],
      [false, 0, 100],
      [false, 0, 1],
      [true, 0, 100],
      [true, 1, 50],
      [true, 0, 50],
      [false, 0, 50],
    ]);
    clock += 3_600_000;
    expect(await passing(Array.from({ length: 10 }, () => store.take([what])))).toBe(3);
  });

  it('counts a request against all limits or none', async () => {
    const [wide, narrow] = [claim(bucketOf(600, 10)), claim(windowOf(2))];
    expect(await passing(Array.from({ length: 10 }, () => store.take([wide, narrow])))).toBe(2);
    expect((await one(store, wide)).remaining).toBe(7);
    expect(await store.take([narrow, wide])).toMatchObject([{ allowed: false }, { allowed: true }]);
    expect((await one(store, wide)).remaining).toBe(6);
  });

  it('keeps counts apart by key', async () => {
    const [mine, yours] = [claim(windowOf(1)), claim(windowOf(1))];
    expect([await one(store, mine), await one(store, yours), await one(store, mine)]).toMatchObject([
      { allowed: true },
      { allowed: true },
      { allowed: false },
    ]);
  });

  it('recovers when the clock was set wrong for a while', async () => {
    const [window, bucket] = [claim(windowOf(1)), claim(bucketOf(60, 1))];
    clock += 86_400_000;
    expect(await passing([store.take([window, bucket]), store.take([window, bucket])])).toBe(1);
    clock -= 86_400_000;
    await store.take([bucket]);
    clock += 1_000;
    expect(await passing([store.take([window, bucket])])).toBe(1);
  });

  it('follows a limit that was changed', async () => {
    const { key } = claim(windowOf(1));
    expect(await passing([store.take([{ key: `b${key}`, limit: bucketOf(600, 600) }])])).toBe(1);
    const less = Array.from({ length: 600 }, () => store.take([{ key: `b${key}`, limit: bucketOf(5, 5) }]));
    expect(await passing(less)).toBe(5);
  });

  it('never lets more than the limit pass in any window, and frees a place no more than a second late', async () => {
    const waits = fc.array(fc.oneof(fc.nat(400), fc.nat(9_000), fc.constant(0)), { maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(waits, fc.integer({ min: 1, max: 12 }), async (given, limit) => {
        const what = claim(windowOf(limit));
        const passed: number[] = [];
        for (const wait of given) {
          clock += wait;
          const since = (ms: number) => passed.filter((at) => at > clock - ms).length;
          const { allowed } = await one(store, what);
          if (allowed) expect(since(60_000)).toBeLessThan(limit);
          else expect(since(61_000)).toBeGreaterThanOrEqual(limit);
          if (allowed) passed.push(clock);
        }
      }),
      { numRuns: kind === 'Redis' ? 40 : 300 },
    );
  });
});

(redisIsHere ? describe : describe.skip)('Redis', () => {
  let open: LimitStore[] = [];
  afterEach(async () => {
    await Promise.all(open.map((store) => store.close()));
    open = [];
  });

  it('answers as memory does, whatever comes when', async () => {
    const [memory, shared] = [await openStore('memory'), await openStore('Redis')];
    open = [memory, shared];
    const limit = fc.oneof(
      fc.integer({ min: 1, max: 9 }).map(windowOf),
      fc
        .tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 9 }))
        .map((both) => bucketOf(...both)),
    );
    const waits = fc.array(fc.oneof(fc.nat(90), fc.nat(3_000), fc.integer({ min: -2_000, max: 70_000 })), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(limit, { minLength: 1, maxLength: 3 }), waits, async (limits, given) => {
        const claims = limits.map(claim);
        for (const wait of given) {
          clock += wait;
          expect(await shared.take(claims)).toEqual(await memory.take(claims));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('counts for two nodes together, by its own clock', async () => {
    const url = redis?.url ?? '';
    const nodes = await Promise.all([1, 2].map(() => createRedisStore({ url, log, timeoutMs: 10_000 })));
    open = nodes;
    const what = claim(windowOf(100));
    const all = nodes.flatMap((node) => Array.from({ length: 250 }, () => node.take([what])));
    expect(await passing(all)).toBe(100);
  });
});

it('forgets the count that was used longest ago rather than growing', async () => {
  const store = createMemoryStore(() => clock, 2);
  const [a, b, c] = [claim(windowOf(1)), claim(windowOf(1)), claim(windowOf(1))];
  expect(await passing([a, b, a, c].map((what) => store.take([what])))).toBe(3);
  expect(await passing([a, c, b].map((what) => store.take([what])))).toBe(1);
});
