import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createClient } from '@redis/client';
import { pino } from 'pino';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { importSource } from '../scripts/import-source.ts';

/**
 * What the limits cost a request, as it is served: the claims of address, organization and API key, and the headers.
 * The peer is rate-limiter-flexible, a fixed window for one key and no headers. With REDIS_URL the same over Redis, by
 * 16 who ask one after the other.
 *
 *   node bench/rate-limit.ts
 *   REDIS_URL=redis://127.0.0.1:6379 node bench/rate-limit.ts
 */
const REQUESTS = 200_000;
const REDIS_REQUESTS = 20_000;
const ASKERS = 16;
const ROUNDS = 5;
const CLIENTS = 1_000;
const NEVER_REACHED = 1_000_000;

const { createRateLimits } = await importSource<typeof import('../src/gateway/rate-limit/rate-limits.js')>(
  'src/gateway/rate-limit/rate-limits.ts',
);
const { createMemoryStore } = await importSource<typeof import('../src/gateway/rate-limit/memory-store.js')>(
  'src/gateway/rate-limit/memory-store.ts',
);
const { createRedisStore } = await importSource<typeof import('../src/gateway/rate-limit/redis-store.js')>(
  'src/gateway/rate-limit/redis-store.ts',
);
const { limitTable } = await importSource<typeof import('../src/gateway/rate-limit/limit-table.js')>(
  'src/gateway/rate-limit/limit-table.ts',
);

type Serve = (index: number) => unknown;

const log = pino({ level: 'silent' });
const values = Object.fromEntries(Object.keys(limitTable).map((name) => [name, NEVER_REACHED])) as Parameters<
  typeof createRateLimits
>[0]['values'];
const request = new IncomingMessage(new Socket());
request.method = 'GET';
request.url = '/v1/tickets';

function limitsOver(shared: Parameters<typeof createRateLimits>[0]['shared']) {
  let client = 0;
  const limits = createRateLimits({
    values,
    shared,
    node: createMemoryStore(Date.now),
    addressOf: () => `198.51.${client >> 8}.${client & 255}`,
    whenAway: 'open',
    now: () => new Date(),
  });
  const caller = (index: number) => ({
    itsm: {
      userId: 'usr_1',
      email: 'a@acme.test',
      organizationId: `org_${index % 10}`,
      role: 'service_desk_agent' as const,
      sessionId: 'ses_1',
      tokenId: 'tok_1',
      permissions: [],
      apiKey: { id: `key_${index % 100}`, perMinute: NEVER_REACHED },
    },
  });
  const admit = async (index: number, template: string, response: ServerResponse) => {
    client = index % CLIENTS;
    const admission = limits.admit(request, template, response);
    if (admission) await admission;
  };
  return {
    platform: (index: number) => admit(index, '/api/v1/pipelines', new ServerResponse(request)),
    async itsm(index: number) {
      const response = new ServerResponse(request);
      await admit(index, '/v1/tickets', response);
      const admission = limits.admitCaller(caller(index), response);
      if (admission) await admission;
    },
    close: () => limits.close(),
  };
}

async function microseconds(serve: Serve, requests: number, askers: number): Promise<number> {
  const started = performance.now();
  const ask = async (first: number) => {
    for (let index = first; index < requests; index += askers) await serve(index);
  };
  await Promise.all(Array.from({ length: askers }, (_, first) => ask(first)));
  return ((performance.now() - started) * 1_000) / requests;
}

/** In turns, so that a busy machine is busy for all; the median of the rounds. */
async function compare(title: string, contenders: Record<string, Serve>, requests: number, askers: number) {
  const times = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, serve] of Object.entries(contenders)) {
      times.get(name)?.push(await microseconds(serve, requests, askers));
    }
  }
  const medians = [...times].map(
    ([name, all]) => [name, all.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0] as const,
  );
  const peer = medians.at(-1)?.[1] ?? 1;
  for (const [name, time] of medians) {
    process.stdout.write(
      `${title}, ${name}: ${time.toFixed(2)} µs a request, ${(time / peer).toFixed(2)} of the peer\n`,
    );
  }
}

const bare: Serve = () => new ServerResponse(request);
const memory = limitsOver(createMemoryStore(Date.now));
const memoryPeer = new RateLimiterMemory({ points: NEVER_REACHED, duration: 60 });
await compare(
  'memory',
  {
    '/api/v1 (window, headers)': memory.platform,
    '/v1 (guard, key and organization, headers)': memory.itsm,
    'a response without limits': bare,
    'rate-limiter-flexible': (index) => memoryPeer.consume(`client ${index % CLIENTS}`),
  },
  REQUESTS,
  1,
);
await memory.close();

const url = process.env['REDIS_URL'];
if (url !== undefined) {
  const redis = limitsOver(await createRedisStore({ url, log, timeoutMs: 10_000 }));
  const client = createClient({ url, RESP: 2 });
  await client.connect();
  const peer = new RateLimiterRedis({
    storeClient: client,
    useRedisPackage: true,
    points: NEVER_REACHED,
    duration: 60,
  });
  await compare(
    'Redis',
    {
      '/api/v1 (window, headers)': redis.platform,
      '/v1 (guard, key and organization, headers)': redis.itsm,
      'rate-limiter-flexible': (index) => peer.consume(`client ${index % CLIENTS}`),
    },
    REDIS_REQUESTS,
    ASKERS,
  );
  await redis.close();
  client.destroy();
}
