import type { Standing, WindowLimit } from './limit.js';

/** Requests of up to a second, as one entry of the log. */
interface Segment {
  readonly firstAt: number;
  lastAt: number;
  count: number;
}

/** How many segments a window's log has at most; the request log of redis-script.ts has the same. */
export const SEGMENTS = 60;

/**
 * The log of the requests in a window. Requests of the same sixtieth of the window share an entry that leaves with the
 * last of them: never more than the limit passes in any window, a place may come free up to a second late, and the log
 * has 61 entries instead of one for each of 1,200 requests.
 */
export class SlidingWindow {
  readonly #log: Segment[] = [];
  #total = 0;

  /** Whether one more request passes at `now` (milliseconds), and what would be left after it. */
  look({ limit, windowMs }: WindowLimit, now: number): Standing {
    this.#forget(now, windowMs);
    const allowed = this.#total < limit;
    const oldest = this.#log[0]?.lastAt ?? now;
    return {
      allowed,
      remaining: Math.max(0, limit - this.#total - 1),
      freesInMs: Math.min(windowMs, Math.max(1, oldest + windowMs - now)),
    };
  }

  spend({ windowMs }: WindowLimit, now: number): void {
    this.#total += 1;
    const newest = this.#log.at(-1);
    if (newest && now - newest.firstAt < windowMs / SEGMENTS) {
      newest.lastAt = Math.max(newest.lastAt, now);
      newest.count += 1;
    } else this.#log.push({ firstAt: now, lastAt: now, count: 1 });
  }

  #forget(now: number, windowMs: number): void {
    for (let oldest = this.#log[0]; oldest; oldest = this.#log[0]) {
      // An entry from the future is one of before the clock was set back: it would stay until then.
      if (oldest.lastAt > now - windowMs && oldest.lastAt <= now + windowMs) return;
      this.#log.shift();
      this.#total -= oldest.count;
    }
  }
}
