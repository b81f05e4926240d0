import type { IncomingMessage } from 'node:http';
import { requestIdFor } from './request-id.js';

/** What is known about a request while it is served, for its log line, its metrics and its error body. */
export interface RequestRecord {
  readonly id: string;
  /** Milliseconds of performance.now(). */
  readonly startedAt: number;
  /** The template of the route that served it, e.g. /v1/tickets/:id; never the path itself. */
  route: string | undefined;
  /** User, key or token subject. */
  callerId: string | undefined;
  organizationId: string | undefined;
}

const RECORD = Symbol('request record');

/** A property: an entry of a WeakMap costs several times as much, most of it in the garbage collector. */
interface Recorded {
  [RECORD]?: RequestRecord;
}

/** Made at the first question, so that an upgrade request, which passes no middleware, has one too. */
export function recordOf(request: IncomingMessage & Recorded): RequestRecord {
  request[RECORD] ??= {
    id: requestIdFor(request),
    startedAt: performance.now(),
    route: undefined,
    callerId: undefined,
    organizationId: undefined,
  };
  return request[RECORD];
}

export function requestIdOf(request: IncomingMessage): string {
  return recordOf(request).id;
}
