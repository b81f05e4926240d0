import type { Upstream } from './parse-upstreams.js';

/** Milliseconds. */
export interface UpstreamTimeouts {
  readonly connect: number;
  /** From the sent request to the head of the answer. */
  readonly firstByte: number;
  /** Without a byte of the answer, or without a sign of life on a WebSocket. */
  readonly idle: number;
}

/** A request that may be forwarded. */
export interface Forward {
  readonly upstream: Upstream;
  /** Path and query at the upstream. */
  readonly target: string;
  readonly headers: Record<string, string>;
}
