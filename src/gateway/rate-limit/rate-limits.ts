import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, RequestClient } from '../../context.js';
import { AppError, unavailable } from '../../errors.js';
import type { ClientAddress } from '../client-address.js';
import { isBelow, pathOf } from '../surface.js';
import { addressBlock } from './address-block.js';
import { callerClaims } from './caller-claims.js';
import { createEndpointLimits } from './endpoint-limit.js';
import { type Claim, type Limit, type LimitStore, MINUTE_MS, type Standing, windowOf } from './limit.js';
import type { LimitValues } from './limit-table.js';

export interface RateLimitOptions {
  values: LimitValues;
  /** Counts for all nodes together. */
  shared: LimitStore;
  /** Counts for this node alone; never away. */
  node: LimitStore;
  addressOf: ClientAddress;
  /** What becomes of a request that can't be counted: open lets it pass, closed answers 503. */
  whenAway: 'open' | 'closed';
  now(): Date;
}

/** A refusal is thrown where the result is no promise. @throws RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE */
type Admission = undefined | Promise<void>;

export interface RateLimits {
  /**
   * Counts a request by its address, before anybody knows who sent it.
   * @param template of the route that will serve it; undefined when none will
   * @param response gets the X-RateLimit headers; undefined for an upgrade
   */
  admit(
    request: IncomingMessage,
    template: string | undefined,
    response: ServerResponse | undefined,
  ): Admission;
  /** Counts a request of an ITSM caller by organization and API key. */
  admitCaller(caller: Caller, response: ServerResponse | undefined): Admission;
  clientOf(request: IncomingMessage, response: ServerResponse | undefined): RequestClient;
  close(): Promise<void>;
}

/** Seconds after which a client may try again while the store is away: it is asked four times a second. */
const AWAY_RETRY_SECONDS = 1;

export function createRateLimits(options: RateLimitOptions): RateLimits {
  const { values, shared, node, addressOf, whenAway, now } = options;
  const endpointLimit = createEndpointLimits(values);

  function count(
    store: LimitStore,
    claims: readonly Claim[],
    response: ServerResponse | undefined,
  ): Admission {
    const judge = (standings: readonly Standing[]): undefined => {
      for (const [index, { limit }] of claims.entries()) {
        const standing = standings[index];
        if (standing) judgeOne(limit, standing, response, now().getTime());
      }
    };
    const taken = taking(store, claims);
    if (!('then' in taken)) return judge(taken);
    const uncounted = (error: unknown) => {
      if (whenAway === 'closed') throw unavailable('rate-limit', AWAY_RETRY_SECONDS, error);
      for (const { limit } of claims) tell(response, limit, untouched(limit), now().getTime());
    };
    return taken.then(judge, uncounted);
  }

  return {
    admit(request, template, response) {
      const place = template ?? (isBelow(pathOf(request), '/v1') ? '/v1' : '/api/v1');
      const { limit, keyPrefix, count: where } = endpointLimit(request.method ?? 'GET', place);
      const key = keyPrefix + addressBlock(addressOf(request));
      return count(where === 'node' ? node : shared, [{ key, limit }], response);
    },
    admitCaller(caller, response) {
      const claims = callerClaims(caller, values);
      return claims.length === 0 ? undefined : count(shared, claims, response);
    },
    clientOf(request, response) {
      const address = addressOf(request);
      return {
        address,
        async countAttempt(action, account) {
          const key = `${action}|${fingerprint(account)}|${addressBlock(address)}`;
          await count(shared, [{ key, limit: windowOf(values.attempt) }], response);
        },
      };
    },
    async close() {
      await shared.close();
      await node.close();
    },
  };
}

/** For tests and benchmarks: everybody has an address and nobody a limit. */
export function noRateLimits(addressOf: ClientAddress): RateLimits {
  return {
    admit: () => undefined,
    admitCaller: () => undefined,
    clientOf: (request) => ({ address: addressOf(request), countAttempt: async () => undefined }),
    close: async () => undefined,
  };
}

/** A store that throws is away like one whose promise is rejected. */
function taking(store: LimitStore, claims: readonly Claim[]): ReturnType<LimitStore['take']> {
  try {
    return store.take(claims);
  } catch (error) {
    return Promise.reject(error);
  }
}

function judgeOne(
  limit: Limit,
  standing: Standing,
  response: ServerResponse | undefined,
  nowMs: number,
): void {
  if (standing.allowed) {
    tell(response, limit, standing, nowMs);
    return;
  }
  const retryAfter = Math.ceil(standing.freesInMs / 1_000);
  tell(response, limit, { ...standing, remaining: 0, freesInMs: retryAfter * 1_000 }, nowMs);
  const [requests, window] = [requestsOf(limit), windowSecondsOf(limit)];
  throw new AppError('RATE_LIMIT_EXCEEDED', `More than ${requests} requests in ${window} seconds`, {
    details: { limit: requests, window, retryAfter },
  });
}

/** Of several limits that counted a request, the headers tell the one that leaves the least. */
function tell(
  response: ServerResponse | undefined,
  limit: Limit,
  { remaining, freesInMs }: Standing,
  nowMs: number,
): void {
  if (!response || response.headersSent) return;
  const told = response.getHeader('X-RateLimit-Remaining');
  if (told !== undefined && Number(told) < remaining) return;
  response.setHeader('X-RateLimit-Limit', String(requestsOf(limit)));
  response.setHeader('X-RateLimit-Remaining', String(remaining));
  response.setHeader('X-RateLimit-Reset', String(Math.ceil((nowMs + freesInMs) / 1_000)));
}

function untouched(limit: Limit): Standing {
  return { allowed: true, remaining: limit.kind === 'window' ? limit.limit : limit.burst, freesInMs: 0 };
}

function requestsOf(limit: Limit): number {
  return limit.kind === 'window' ? limit.limit : limit.perMinute;
}

function windowSecondsOf(limit: Limit): number {
  return (limit.kind === 'window' ? limit.windowMs : MINUTE_MS) / 1_000;
}

/** So that no store holds e-mail addresses, and a key is short whatever somebody types into a login form. */
function fingerprint(account: string): string {
  return createHash('sha256').update(account.trim().toLowerCase()).digest('base64url').slice(0, 22);
}
