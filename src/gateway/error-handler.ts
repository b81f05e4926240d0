import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { describeFailure } from '../describe-failure.js';
import { requestIdOf } from './request-record.js';
import { isBelow, pathOf } from './surface.js';

/** The failures that happen outside every route. */
export type GatewayFailure =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'method-not-allowed'; readonly allow: string }
  | { readonly kind: 'thrown'; readonly error: unknown };

/** Satisfied by the error renderers of the REST surfaces. */
export interface FailureRenderer {
  render(
    failure: GatewayFailure,
    request: IncomingMessage,
  ): {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string | number | readonly string[]>>;
    readonly body?: unknown;
  };
}

/** The renderer of everything below a path prefix; '/' stands for the rest. */
export interface ErrorSurface {
  readonly prefix: string;
  readonly errors: FailureRenderer;
}

export interface FailureAnswers {
  /** Sends a failure in the envelope of the request's surface; closes the connection when an answer has begun. */
  send(failure: GatewayFailure, request: IncomingMessage, response: ServerResponse): void;
  /** Last route: whatever nobody answered. */
  readonly notFound: RequestHandler;
  readonly errorHandler: ErrorRequestHandler;
}

export function createErrorHandler(options: {
  log: Logger;
  surfaces: readonly ErrorSurface[];
}): FailureAnswers {
  const { log } = options;
  const surfaces = [...options.surfaces].sort((a, b) => b.prefix.length - a.prefix.length);
  const rendererFor = (request: IncomingMessage): FailureRenderer => {
    const path = pathOf(request);
    const surface = surfaces.find(({ prefix }) => prefix === '/' || isBelow(path, prefix));
    if (!surface) throw new Error(`No error surface for a path; one with prefix '/' is needed`);
    return surface.errors;
  };

  const send: FailureAnswers['send'] = (failure, request, response) => {
    if (failure.kind === 'thrown') logThrown(log, failure.error, request);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const { status, headers, body } = rendererFor(request).render(failure, request);
    const text = Buffer.from(JSON.stringify(body));
    response.statusCode = status;
    // While the process starts, and for an upgrade, no middleware has set it.
    response.setHeader('X-Request-Id', requestIdOf(request));
    for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('content-length', text.length);
    response.end(request.method === 'HEAD' ? undefined : text);
  };

  return {
    send,
    notFound: (request, response) => send({ kind: 'not-found' }, request, response),
    errorHandler: (error, request, response, _next) => send({ kind: 'thrown', error }, request, response),
  };
}

/** Only what nobody expected is worth a stack; a store that is away is one line. */
export function logThrown(log: Logger, error: unknown, request: IncomingMessage): void {
  const described = describeFailure(error);
  const requestId = requestIdOf(request);
  if (described.code === 'INTERNAL_ERROR') log.error({ err: error, requestId }, 'unexpected error');
  else if (described.code === 'SERVICE_UNAVAILABLE') {
    log.warn(
      { requestId, service: described.details?.['service'], cause: causeOf(described) },
      'service unavailable',
    );
  }
}

function causeOf(error: Error): string | undefined {
  return error.cause instanceof Error ? error.cause.message : undefined;
}
