import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { logAccess } from './access-log.js';
import { compress } from './compress.js';
import { createErrorHandler, type ErrorSurface, type FailureAnswers } from './error-handler.js';
import { health, type Readiness } from './health.js';
import { createMetrics, type Metrics, type PoolCounts } from './metrics.js';
import { otherMethods } from './other-methods.js';
import { recordOf } from './request-record.js';
import { securityHeaders } from './security-headers.js';
import { takeTurns } from './take-turns.js';

export interface GatewayOptions {
  log: Logger;
  readiness: Readiness;
  /** The same list the bridge gets: which envelope speaks below which prefix. */
  surfaces: readonly ErrorSurface[];
  /** Adds the routes; they run after the gateway's middleware and before its 404. */
  mount(app: Express): void;
  databasePool?: () => PoolCounts;
}

export interface Gateway {
  app: Express;
  metrics: Metrics;
  /** For failures outside Express, such as a refused upgrade. */
  failures: FailureAnswers;
  close(): void;
}

/** The way in of every HTTP request: id, log line, metrics, security headers, compression, routes, error bodies. */
export function createGateway(options: GatewayOptions): Gateway {
  const metrics = createMetrics({ databasePool: options.databasePool });
  const failures = createErrorHandler({ log: options.log, surfaces: options.surfaces });
  const app = express();
  // Express's own ETag hashes every body it sends, and `x-powered-by` helps nobody but attackers.
  app.disable('etag').disable('x-powered-by').enable('case sensitive routing');
  app.use(observe(options.log, metrics), takeTurns(), securityHeaders, compress());
  app.route('/health').get(health(options.readiness)).all(otherMethods('GET, HEAD, OPTIONS'));
  app.route('/metrics').get(metrics.handler).all(otherMethods('GET, HEAD, OPTIONS'));
  options.mount(app);
  app.use(failures.notFound, failures.errorHandler);
  return { app, metrics, failures, close: () => metrics.close() };
}

/** Gives the request its id, and its log line and measurement once the answer is out or the client is gone. */
function observe(log: Logger, metrics: Metrics): RequestHandler {
  return (request, response, next) => {
    response.setHeader('X-Request-Id', recordOf(request).id);
    metrics.started();
    response.once('close', () => {
      metrics.answered(request, response);
      logAccess(log, request, response);
    });
    next();
  };
}
