import type { RequestContext } from '../../context.js';
import { LOG_LEVELS, type LogLevel } from '../../engines/engine.js';
import { Run } from '../../entities/runs/run.js';
import { RunMessage } from '../../entities/runs/run-message.js';
import { boundedLimit } from '../bounded-limit.js';
import { readInWorkspace } from '../workspace-resource.js';
import type { RunMessageBodies } from './run-message-body.js';

export type { LogLevel };

const MAX_ENTRIES = 1000;

export interface LogQuery {
  taskId?: string | null | undefined;
  /** The least that is wanted: WARN gives ERROR as well. */
  level?: LogLevel | null | undefined;
  limit: number;
  /** Only what was written behind this number. */
  after?: number | null | undefined;
}

export type LogEntry = Pick<RunMessage, 'seq' | 'runId' | 'timestamp'> & RunMessageBodies['log'];

/** In order of writing. @throws NOT_FOUND, AUTHORIZATION_ERROR, VALIDATION_ERROR for a limit out of bounds */
export async function runLogs(context: RequestContext, runId: string, query: LogQuery): Promise<LogEntry[]> {
  await readInWorkspace(context, Run, runId);
  const { taskId, level, after } = query;
  const messages = await context.em.find(
    RunMessage,
    {
      runId,
      type: 'log',
      ...(after != null && { seq: { $gt: after } }),
      body: {
        ...(taskId != null && { taskId }),
        ...(level != null && { level: { $in: LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)) } }),
      },
    },
    { orderBy: { seq: 'asc' }, limit: boundedLimit(query.limit, MAX_ENTRIES), disableIdentityMap: true },
  );
  return messages.map(({ seq, timestamp, body }) => ({
    seq,
    runId,
    timestamp,
    ...(body as unknown as RunMessageBodies['log']),
  }));
}
