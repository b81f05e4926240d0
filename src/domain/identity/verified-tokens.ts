import { LRUCache } from 'lru-cache';

/** About 1.5 KB each: 15 MB when full. */
const MAXIMUM = 10_000;

/** Tokens whose signature was found good, until they expire: a signature is checked once, not with every request. */
export interface VerifiedTokens<Principal> {
  /** Undefined for a token that was not seen, or is past its time. */
  get(token: string, now: Date): Principal | undefined;
  /** @param expires the `exp` claim, in seconds since 1970. */
  set(token: string, principal: Principal, expires: number): void;
}

export function createVerifiedTokens<Principal>(): VerifiedTokens<Principal> {
  const cache = new LRUCache<string, { principal: Principal; expiresMs: number }>({ max: MAXIMUM });
  return {
    get(token, now) {
      const entry = cache.get(token);
      if (entry === undefined) return undefined;
      if (entry.expiresMs > now.getTime()) return entry.principal;
      cache.delete(token);
      return undefined;
    },
    set(token, principal, expires) {
      cache.set(token, { principal, expiresMs: expires * 1_000 });
    },
  };
}
