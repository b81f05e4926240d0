import type { Followed, RequestContext } from '../../context.js';
import { Run } from '../../entities/runs/run.js';
import type { RunState, RunTaskStatus } from '../../entities/runs/run-enums.js';
import type { RunMessage } from '../../entities/runs/run-message.js';
import { readInWorkspace } from '../workspace-resource.js';
import { isFinal, runStatus } from './run-status.js';

/**
 * The present state as messages, then everything after it, without a gap; or everything after a number.
 * Ends with the run. @throws NOT_FOUND, AUTHORIZATION_ERROR
 */
export async function watchRun(
  context: RequestContext,
  runId: string,
  after: number | undefined,
): Promise<Followed<RunMessage>> {
  await readInWorkspace(context, Run, runId);
  const { runs } = context.services;
  if (after !== undefined) return runs.follow(runId, after);
  const { messages, seq, over } = await snapshot(context, runId);
  return following(messages, over ? undefined : runs.follow(runId, seq));
}

/** Run and tasks in one statement, so that they belong to the same number. */
const SNAPSHOT = `
SELECT run."state", run."error", run."last_seq" AS "seq", coalesce(
  jsonb_agg(jsonb_strip_nulls(jsonb_build_object('taskId', task."task_id", 'status', task."status",
    'attempt', task."attempt", 'rows', task."rows", 'percent', task."percent", 'error', task."error")) ORDER BY task."position")
  FILTER (WHERE task."task_id" IS NOT NULL), '[]') AS "tasks"
FROM "run" LEFT JOIN "run_task" AS task ON task."run_id" = run."id"
WHERE run."id" = ? GROUP BY run."id"`;

interface SnapshotRow {
  state: RunState;
  error: string | null;
  seq: number;
  tasks: { taskId: string; status: RunTaskStatus; attempt: number }[];
}

async function snapshot(
  { em, services }: RequestContext,
  runId: string,
): Promise<{ messages: RunMessage[]; seq: number; over: boolean }> {
  const [row] = await em.execute<SnapshotRow[]>(SNAPSHOT, [runId]);
  if (!row) return { messages: [], seq: 0, over: true };
  const common = { runId, seq: row.seq, timestamp: services.now() };
  const error = row.error === null ? {} : { error: row.error };
  const tasks = row.tasks.map((body): RunMessage => ({ ...common, type: 'task', body }));
  const run: RunMessage = { ...common, type: 'run', body: { status: runStatus(row.state), ...error } };
  const over = isFinal(row.state);
  // The run's own message ends the stream, so it comes last when the run is over.
  return { messages: over ? [...tasks, run] : [run, ...tasks], seq: row.seq, over };
}

/** First what is at hand, then what is followed. Not a generator: return() must reach the source at once. */
function following(first: RunMessage[], rest: Followed<RunMessage> | undefined): Followed<RunMessage> {
  const over = { value: undefined, done: true } as const;
  return {
    next: async () => {
      const value = first.shift();
      if (value) return { value, done: false };
      return rest ? rest.next() : over;
    },
    return: async () => {
      first.length = 0;
      await rest?.return?.();
      return over;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
