import { rm } from 'node:fs/promises';
import type { Pool } from 'pg';
import type { Config } from '../../config.js';
import type { TaskGraph } from '../pipelines/index.js';
import type { TaskFailure } from './attempt-unit.js';
import type { ClaimedRun } from './claim-run.js';
import { runDirectory } from './resume-run.js';
import type { JournalEntry } from './run-journal.js';
import type { RunRecorder } from './run-recorder.js';
import { watermarkSources } from './watermarks.js';

/** Why the run's signal was aborted. */
export type Stop = 'cancelled' | 'lost' | 'draining' | 'timeout';

/** What the end of a run is told with. */
export interface RunEnd {
  pool: Pool;
  run: ClaimedRun;
  recorder: RunRecorder;
  config: Pick<Config, 'dataDir' | 'runRetryKeepHours'>;
}

const TIMED_OUT = 'The run took longer than its timeout';

/** Ends a run whose tasks have come to rest, unless it is only put down for another worker. */
export async function conclude(
  end: RunEnd,
  graph: TaskGraph,
  signal: AbortSignal,
  failures: readonly TaskFailure[],
): Promise<void> {
  const reason = signal.aborted ? (signal.reason as Stop) : undefined;
  if (reason === 'draining' || reason === 'lost') return;
  if (reason === 'cancelled') return stop(end, 'CANCELLED');
  if (reason === 'timeout') return stop(end, 'FAILED', TIMED_OUT);
  const [failure] = failures;
  if (failure) return finish(end, { state: 'FAILED', error: `${failure.taskId}: ${failure.message}` });
  return finish(end, {
    state: 'SUCCESS',
    warned: await hasWarnings(end),
    ...(end.run.isExclusive && { watermarkSources: watermarkSources(graph) }),
  });
}

/** Whether a check of severity WARNING failed; one of severity ERROR would have failed its task. */
async function hasWarnings({ pool, run }: RunEnd): Promise<boolean> {
  const { rows } = await pool.query<{ warned: boolean }>(
    `SELECT EXISTS (SELECT FROM "run_task", jsonb_array_elements("checks") AS found
     WHERE "run_id" = $1 AND NOT (found ->> 'passed')::boolean) AS "warned"`,
    [run.id],
  );
  return rows[0]?.warned ?? false;
}

/** Ends a run before its tasks have; those that were under way fail with the error, if there is one. */
export async function stop(end: RunEnd, state: 'FAILED' | 'CANCELLED', error?: string): Promise<void> {
  const { pool, run, recorder } = end;
  const { rows } = await pool.query<{ taskId: string; attempt: number; started: boolean }>(
    `SELECT "task_id" AS "taskId", "attempt", "status" <> 'PENDING' AS "started" FROM "run_task"
     WHERE "run_id" = $1 AND "status" IN ('PENDING', 'RUNNING', 'HEALING') ORDER BY "position"`,
    [run.id],
  );
  const tasks = rows.map(({ taskId, attempt, started }) => ({
    taskId,
    attempt,
    ...(error !== undefined && started
      ? { status: 'FAILED' as const, error }
      : { status: 'CANCELLED' as const }),
  }));
  if (tasks.length > 0)
    await recorder.record({ tasks, messages: tasks.map((body) => ({ type: 'task', body })) });
  await finish(end, { state, ...(error !== undefined && { error }) });
}

const endings = {
  SUCCESS: { status: 'COMPLETED', pipelineStatus: 'SUCCESS' },
  FAILED: { status: 'FAILED', pipelineStatus: 'FAILED' },
  CANCELLED: { status: 'CANCELLED', pipelineStatus: 'CANCELLED' },
} as const;

interface Ending extends Pick<JournalEntry, 'error' | 'watermarkSources'> {
  state: keyof typeof endings;
  warned?: boolean;
}

export async function finish(
  { run, recorder, config }: RunEnd,
  { state, warned = false, ...more }: Ending,
): Promise<void> {
  const { status, pipelineStatus } = endings[state];
  const reason = more.error === undefined ? {} : { error: more.error };
  await recorder.record({
    state,
    ...more,
    pipelineStatus: warned ? 'WARNING' : pipelineStatus,
    finished: true,
    messages: [{ type: 'run', body: { status, ...reason } }],
  });
  // Not before: until then another worker may go on from here, and would read anew what targets have taken already.
  if (state === 'SUCCESS' || config.runRetryKeepHours === 0)
    await rm(runDirectory(config, run.id), { recursive: true, force: true });
}
