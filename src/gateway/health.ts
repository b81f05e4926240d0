import type { RequestHandler } from 'express';
import { unavailable } from '../errors.js';
import { recordOf } from './request-record.js';

/** starting until everything a request needs is there, draining once the process was told to stop. */
export type LifeStage = 'starting' | 'ready' | 'draining';

export interface Readiness {
  readonly stage: LifeStage;
}

/** Seconds until a balancer should ask again; a drain ends the process within ten. */
const RETRY_SECONDS = 5;

/** The gateway's own health (platform document, gatewayHealth): what it depends on answers for itself with 503. */
export function health(readiness: Readiness): RequestHandler {
  return (request, response) => {
    recordOf(request).route = '/health';
    response.setHeader('cache-control', 'no-store');
    if (readiness.stage !== 'ready') throw unavailable('gateway', RETRY_SECONDS);
    response.json({ status: 'UP', gateway: 'opsgraph' });
  };
}
