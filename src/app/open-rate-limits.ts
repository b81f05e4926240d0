import type { Services } from '../context.js';
import { createClientAddress } from '../gateway/client-address.js';
import { createMemoryStore } from '../gateway/rate-limit/memory-store.js';
import { createRateLimits, noRateLimits, type RateLimits } from '../gateway/rate-limit/rate-limits.js';
import { createRedisStore } from '../gateway/rate-limit/redis-store.js';

/** Counts in Redis when there is one, otherwise in memory: then each node allows what the table says. */
export async function openRateLimits({
  config,
  log,
  now,
}: Pick<Services, 'config' | 'log' | 'now'>): Promise<RateLimits> {
  const addressOf = createClientAddress(config.trustedProxies);
  if (config.rateLimitDisabled) return noRateLimits(addressOf);
  const milliseconds = () => now().getTime();
  const { redisUrl } = config;
  return createRateLimits({
    values: config.rateLimits,
    shared:
      redisUrl === undefined
        ? createMemoryStore(milliseconds)
        : await createRedisStore({ url: redisUrl, log }),
    node: createMemoryStore(milliseconds),
    addressOf,
    whenAway: config.rateLimitFail,
    now,
  });
}
