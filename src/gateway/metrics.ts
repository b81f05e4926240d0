import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { recordOf } from './request-record.js';

/** Seconds. From a cached read to a slow login and a request that ran into a timeout. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);

export interface PoolCounts {
  total: number;
  idle: number;
  waiting: number;
}

export interface Metrics {
  readonly registry: Registry;
  started(): void;
  answered(request: IncomingMessage, response: ServerResponse): void;
  /** GET /metrics in the Prometheus text format. */
  readonly handler: RequestHandler;
  close(): void;
}

/**
 * A registry of its own for each gateway, so that two in one process don't collide. A label value is never taken
 * from a path, and a method only from the known ones: the number of series is bounded by the number of routes.
 */
export function createMetrics(options: { databasePool?: (() => PoolCounts) | undefined } = {}): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'opsgraph_' });
  const duration = new Histogram({
    name: 'opsgraph_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'opsgraph_http_requests_in_flight',
    help: 'Requests that have arrived and are not answered yet, open streams included',
    registers: [registry],
  });
  registerPool(registry, options.databasePool);

  return {
    registry,
    started: () => inFlight.inc(),
    answered(request, response) {
      inFlight.dec();
      const record = recordOf(request);
      const method = METHODS.has(request.method ?? '') ? request.method : 'other';
      duration.observe(
        { method, route: record.route ?? 'unmatched', status: response.statusCode },
        (performance.now() - record.startedAt) / 1000,
      );
    },
    handler: async (request, response) => {
      recordOf(request).route = '/metrics';
      const body = await registry.metrics();
      response.setHeader('content-type', registry.contentType);
      response.setHeader('cache-control', 'no-store');
      response.end(body);
    },
    close: () => registry.clear(),
  };
}

function registerPool(registry: Registry, databasePool: (() => PoolCounts) | undefined): void {
  if (!databasePool) return;
  new Gauge({
    name: 'opsgraph_database_pool_connections',
    help: 'Connections of the database pool by state; waiting counts the requests that wait for one',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(databasePool())) this.set({ state }, count);
    },
  });
}
