import compression from 'compression';
import type { RequestHandler } from 'express';

/**
 * Smaller answers fit a few packets anyway and cost more to compress than to send. See docs/decisions/gateway.md
 * for what was measured.
 */
const THRESHOLD_BYTES = 8_192;

/** A stream's events must leave at once; a compressor would hold them back. */
function pays(type: unknown): boolean {
  return typeof type === 'string' && !type.startsWith('text/event-stream') && COMPRESSIBLE.test(type);
}

const COMPRESSIBLE =
  /^(?:text\/|application\/(?:json|javascript|manifest\+json|[\w.-]+\+json|yaml)|image\/svg)/;

export function compress(): RequestHandler {
  const middleware = compression({
    threshold: THRESHOLD_BYTES,
    filter: (_request, response) => pays(response.getHeader('content-type')),
  });
  return (request, response, next) => {
    // compression wraps write, end and on of every response (3 µs): pointless for a client that asked for nothing.
    if (request.headers['accept-encoding'] === undefined) next();
    else middleware(request, response, next);
  };
}
