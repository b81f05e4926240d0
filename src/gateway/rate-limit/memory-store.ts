import { LRUCache } from 'lru-cache';
import type { Claim, LimitStore, Standing } from './limit.js';
import { SlidingWindow } from './sliding-window.js';
import { TokenBucket } from './token-bucket.js';

/**
 * Counts that are kept; beyond it the one used longest ago starts anew. A window takes 3 KB when it is full and 0.3 KB
 * for an occasional client.
 */
const MAX_COUNTS = 50_000;

/** Counts of this process alone. @param now milliseconds since 1970 */
export function createMemoryStore(now: () => number, maxCounts = MAX_COUNTS): LimitStore {
  const windows = new LRUCache<string, SlidingWindow>({ max: maxCounts });
  const buckets = new LRUCache<string, TokenBucket>({ max: maxCounts });

  function countOf({ key, limit }: Claim): { look(at: number): Standing; spend(at: number): void } {
    if (limit.kind === 'window') {
      const window = found(windows, key, SlidingWindow);
      return { look: (at) => window.look(limit, at), spend: (at) => window.spend(limit, at) };
    }
    const bucket = found(buckets, key, TokenBucket);
    return { look: (at) => bucket.look(limit, at), spend: (at) => bucket.spend(limit, at) };
  }

  return {
    take(claims) {
      const at = now();
      const counts = claims.map(countOf);
      const standings = counts.map((count) => count.look(at));
      if (standings.every(({ allowed }) => allowed)) for (const count of counts) count.spend(at);
      return standings;
    },
    close() {
      windows.clear();
      buckets.clear();
    },
  };
}

function found<T extends object>(counts: LRUCache<string, T>, key: string, Count: new () => T): T {
  const known = counts.get(key);
  if (known) return known;
  const made = new Count();
  counts.set(key, made);
  return made;
}
