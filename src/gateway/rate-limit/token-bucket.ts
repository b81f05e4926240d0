import { type BucketLimit, MINUTE_MS, type Standing } from './limit.js';

/** Against sums such as 0.1 + 0.2 that end just below a whole token; redis-script.ts has the same. */
export const ROUNDING = 1e-6;

/** Holds up to `burst` tokens, one for each request, and fills at an even rate. */
export class TokenBucket {
  #tokens: number | undefined;
  #filledAt = 0;

  /** Whether one more request passes at `now` (milliseconds), and what would be left after it. */
  look({ perMinute, burst }: BucketLimit, now: number): Standing {
    const tokens = this.#fill(perMinute, burst, now);
    const allowed = tokens + ROUNDING >= 1;
    const left = allowed ? tokens - 1 : tokens;
    const whole = Math.floor(left + ROUNDING);
    const missing = whole + 1 - left;
    return {
      allowed,
      remaining: Math.max(0, whole),
      freesInMs: Math.max(1, Math.ceil((missing * MINUTE_MS) / perMinute - ROUNDING)),
    };
  }

  spend({ perMinute, burst }: BucketLimit, now: number): void {
    this.#tokens = this.#fill(perMinute, burst, now) - 1;
    this.#filledAt = now;
  }

  #fill(perMinute: number, burst: number, now: number): number {
    if (this.#tokens === undefined) return burst;
    // The clock was set back: what it said before would stop the filling until it says so again.
    this.#filledAt = Math.min(this.#filledAt, now);
    return Math.min(burst, this.#tokens + ((now - this.#filledAt) * perMinute) / MINUTE_MS);
  }
}
