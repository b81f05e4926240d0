/** At most `limit` requests in any `windowMs`. */
export interface WindowLimit {
  readonly kind: 'window';
  readonly limit: number;
  readonly windowMs: number;
}

/** `perMinute` requests a minute on average, `burst` of them at once at most; a new bucket is full. */
export interface BucketLimit {
  readonly kind: 'bucket';
  readonly perMinute: number;
  readonly burst: number;
}

export type Limit = WindowLimit | BucketLimit;

/** One request that is to be counted against one limit. */
export interface Claim {
  /** Whose count it is; two claims with the same key have the same limit. */
  readonly key: string;
  readonly limit: Limit;
}

/** What a claim came to. */
export interface Standing {
  /** False when the request is one too many. */
  readonly allowed: boolean;
  /** How many more would pass at this moment. */
  readonly remaining: number;
  /** Milliseconds until one more than that would pass; more than 0. */
  readonly freesInMs: number;
}

/** Counts requests. */
export interface LimitStore {
  /**
   * Counts a request against all claims, or against none when one of them refuses it: of any number of simultaneous
   * requests exactly as many pass as the limits allow.
   * @returns a standing for each claim, in order
   * @throws when the store can't be reached; a promise is then rejected
   */
  take(claims: readonly Claim[]): readonly Standing[] | Promise<readonly Standing[]>;
  close(): void | Promise<void>;
}

export const MINUTE_MS = 60_000;

export function windowOf(perMinute: number): WindowLimit {
  return { kind: 'window', limit: perMinute, windowMs: MINUTE_MS };
}

export function bucketOf(perMinute: number, burst: number): BucketLimit {
  return { kind: 'bucket', perMinute, burst };
}
