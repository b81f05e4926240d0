import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { recordOf } from './request-record.js';

/** Asked for every few seconds by machines; their lines would bury the others. */
const QUIET_ROUTES = new Set(['/health', '/metrics']);

/**
 * One line per request once its answer is out. The route is the template, so neither an id nor a query (which may
 * hold codes and tokens) gets into the log by the URL.
 */
export function logAccess(log: Logger, request: IncomingMessage, response: ServerResponse): void {
  const record = recordOf(request);
  const level = levelOf(response.statusCode, record.route);
  if (!log.isLevelEnabled(level)) return;
  log[level](
    {
      requestId: record.id,
      method: request.method,
      route: record.route ?? 'unmatched',
      status: response.statusCode,
      ms: Math.round((performance.now() - record.startedAt) * 10) / 10,
      callerId: record.callerId,
      organizationId: record.organizationId,
      ...(!response.writableFinished && { aborted: true }),
    },
    'request',
  );
}

function levelOf(status: number, route: string | undefined): 'debug' | 'info' | 'warn' {
  if (status >= 500) return 'warn';
  return route !== undefined && QUIET_ROUTES.has(route) ? 'debug' : 'info';
}
