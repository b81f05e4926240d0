import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import zlib from 'node:zlib';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

/**
 * Up to about 14 KB an answer fits the first flight of packets (RFC 6928: ten segments) and a smaller one arrives no
 * sooner, while compressing it costs more than the whole gateway: 137 µs of processor time for 24 KB.
 */
const THRESHOLD_BYTES = 16_384;

/**
 * Measured on a list of 24 KB, processor time and size: gzip 6 213 µs, 4,281 bytes; gzip 1 137 µs, 4,489; Brotli 4
 * (the library's choice) 300 µs, 4,083; Brotli 1 with a window of 64 KB 107 µs, 4,512. Clients that take both get Brotli.
 */
const LEVELS = {
  level: zlib.constants.Z_BEST_SPEED,
  brotli: {
    params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1, [zlib.constants.BROTLI_PARAM_LGWIN]: 16 },
  },
};

/** A stream's events must leave at once; a compressor would hold them back. */
function pays(type: unknown): boolean {
  return typeof type === 'string' && !type.startsWith('text/event-stream') && COMPRESSIBLE.test(type);
}

const COMPRESSIBLE =
  /^(?:text\/|application\/(?:json|javascript|manifest\+json|[\w.-]+\+json|yaml)|image\/svg)/;

/**
 * compression gives each response four functions of its own. V8 makes a function that is written straight into a property
 * old at once (`set_pretenure` in its parser), and with it the whole request outlives its collection: 8 KB of each request,
 * 10 ms at each scavenge. So a response is handed to it only when its length is not known to be below the threshold.
 */
export function compress(): RequestHandler {
  const middleware = compression({
    ...LEVELS,
    threshold: THRESHOLD_BYTES,
    filter: (_request, response) => pays(response.getHeader('content-type')),
  });
  const untilDecided = methodsUntil((response, isShort) => {
    Object.assign(response, PLAIN_METHODS);
    if (!isShort) middleware(response.req as Request, response as Response, () => undefined);
  });
  return (request, response, next) => {
    if (request.headers['accept-encoding'] !== undefined) Object.assign(response, untilDecided);
    next();
  };
}

type Method = 'on' | 'write' | 'writeHead' | 'end';
type Methods = Record<Method, (this: ServerResponse, ...given: never[]) => unknown>;

const { on, write, writeHead, end } = ServerResponse.prototype;
const PLAIN_METHODS: Methods = { on, write, writeHead, end };

/** Methods of a response that call `decide`, which replaces them, at the first that shows how long it may become. */
function methodsUntil(decide: (response: ServerResponse, isShort: boolean) => void): Methods {
  const after = (response: ServerResponse, name: Method, isShort: boolean, given: unknown[]): unknown => {
    decide(response, isShort);
    return Reflect.apply(response[name], response, given);
  };
  return {
    on(...given: [string, () => void]) {
      // Whoever waits for 'drain' writes in pieces, and is to wait for the compressor.
      return given[0] === 'drain' ? after(this, 'on', false, given) : Reflect.apply(on, this, given);
    },
    write(...given) {
      return after(this, 'write', false, given);
    },
    writeHead(...given: unknown[]) {
      const headers = given.at(-1) as OutgoingHttpHeaders | undefined;
      const length = headers?.['content-length'] ?? this.getHeader('content-length');
      return after(this, 'writeHead', isBelowThreshold(length), given);
    },
    end(...given: unknown[]) {
      const length = this.getHeader('content-length') ?? lengthOf(given[0]);
      return after(this, 'end', isBelowThreshold(length), given);
    },
  };
}

function isBelowThreshold(length: unknown): boolean {
  return length !== undefined && Number(length) < THRESHOLD_BYTES;
}

function lengthOf(body: unknown): number {
  return typeof body === 'string' || body instanceof Uint8Array ? Buffer.byteLength(body) : 0;
}
