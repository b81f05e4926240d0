import { access, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Pool } from 'pg';
import type { Services } from '../../context.js';
import { isDatabaseAway } from '../../database/connection-error.js';
import { nativePool } from '../../database/native-pool.js';
import type { SessionOptions } from '../../engines/engine.js';
import { newUuid } from '../../entities/ids.js';
import { AppError } from '../../errors.js';
import { connectionTarget } from '../connections/index.js';
import type { PipelineDefinition, TaskGraph } from '../pipelines/index.js';
import type { TaskFailure } from './attempt-unit.js';
import { bindRun } from './bind-run.js';
import { EMIT_LINEAGE } from './run-jobs.js';
import { createRunJournal, LeaseLost } from './run-journal.js';
import { type ClaimedRun, claimRun, holdLease } from './run-lease.js';
import { RunRecorder } from './run-recorder.js';
import { runTasks } from './run-tasks.js';
import { planRun, type RunUnit } from './run-units.js';
import { runDeadline } from './task-policy.js';

const THREADS_PER_RUN = 2;

/** Why the run's signal was aborted. */
type Stop = 'cancelled' | 'lost' | 'draining' | 'timeout';

/**
 * Takes a run up where it stands and carries it to its end, unless it is somebody else's, has ended, or this worker is
 * told to drain: then its lease is given back and another worker goes on from the last finished task.
 */
export async function executeRun(services: Services, runId: string, draining: AbortSignal): Promise<void> {
  const pool = await nativePool(services.orm);
  const owner = newUuid();
  const run = await claimRun(pool, runId, owner, services.now());
  if (!run) return;
  services.log.info({ runId, pipelineId: run.pipelineId }, 'run taken up');
  await tellLineage(services, runId);
  const stop = new AbortController();
  const abort = (reason: Stop) => () => stop.abort(reason);
  draining.addEventListener('abort', abort('draining'), { once: true });
  const lease = holdLease({
    pool,
    wake: services.wake,
    runId,
    owner,
    onCancel: abort('cancelled'),
    onLost: abort('lost'),
  });
  const journal = createRunJournal({ pool, wake: services.wake, runId, owner, now: services.now });
  const recorder = new RunRecorder(journal, abort('lost'));
  if (draining.aborted) stop.abort('draining' satisfies Stop);
  if (run.cancelRequested) stop.abort('cancelled' satisfies Stop);
  try {
    await carryOut(services, pool, run, recorder, stop);
    await recorder.close();
  } catch (error) {
    if (error instanceof LeaseLost) services.log.info({ runId }, 'run taken away while it was executed');
    else if (isDatabaseAway(error)) throw error;
    else {
      services.log.error({ err: error, runId }, 'run failed unexpectedly');
      await finish(services, run, recorder, {
        state: 'FAILED',
        error: 'The run failed by an internal error',
      });
    }
  } finally {
    await lease.release();
    await tellLineage(services, runId);
  }
}

/** The sweep says what is not said here. */
async function tellLineage({ jobs, log }: Services, runId: string): Promise<void> {
  await jobs.enqueue(EMIT_LINEAGE, { runId }).catch((error: unknown) => {
    log.warn({ err: error, runId }, 'lineage of the run not told yet');
  });
}

async function carryOut(
  services: Services,
  pool: Pool,
  run: ClaimedRun,
  recorder: RunRecorder,
  stop: AbortController,
): Promise<void> {
  let plan: { definition: PipelineDefinition; graph: TaskGraph };
  try {
    plan = bindRun(services, run);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return finish(services, run, recorder, { state: 'FAILED', error: error.message });
  }
  const timer = setTimeout(
    () => stop.abort('timeout' satisfies Stop),
    runDeadline(run, plan.definition) - services.now().getTime(),
  );
  try {
    const failures = await executeGraph(services, pool, run, recorder, plan, stop.signal);
    await conclude(services, pool, run, recorder, stop.signal, failures);
  } finally {
    clearTimeout(timer);
  }
}

async function executeGraph(
  services: Services,
  pool: Pool,
  run: ClaimedRun,
  recorder: RunRecorder,
  { definition, graph }: { definition: PipelineDefinition; graph: TaskGraph },
  signal: AbortSignal,
): Promise<TaskFailure[]> {
  if (signal.aborted) return [];
  const engine = services.engines.get(graph.engine);
  if (!engine) throw new Error(`no ${graph.engine} engine in this process`);
  const units = planRun(engine, graph, run.workspaceId);
  const done = await finishedUnits(pool, services, run, units);
  const watermarks = await sourceWatermarks(pool, run);
  await recorder.record({
    state: 'RUNNING',
    pipelineStatus: 'RUNNING',
    messages: [{ type: 'run', body: { status: 'RUNNING' } }],
  });
  const session = await engine.open(sessionOptions(services, run, units));
  try {
    return await runTasks({ run, definition, graph, units, session, recorder, done, watermarks, signal });
  } finally {
    await session.close();
  }
}

function sessionOptions(services: Services, run: ClaimedRun, units: readonly RunUnit[]): SessionOptions {
  const { config } = services;
  return {
    runId: run.id,
    workspaceId: run.workspaceId,
    runDirectory: runDirectory(services, run.id),
    tasks: units.map(({ task }) => task),
    memoryLimitMb: config.runMemoryLimitMb,
    threads: THREADS_PER_RUN,
    filesRoots: config.filesRoots,
    maskKey: Buffer.from(services.secrets.deriveKey(`mask ${run.workspaceId}`)).toString('hex'),
    filesBase: path.join(config.dataDir, 'files'),
    resolveConnection: (name) => connectionTarget(services, run, name),
  };
}

function runDirectory({ config }: Services, runId: string): string {
  return path.join(config.dataDir, 'runs', runId);
}

/** A finished unit counts when what it produced is still here: another machine's disk is not ours. */
async function finishedUnits(
  pool: Pool,
  services: Services,
  run: ClaimedRun,
  units: readonly RunUnit[],
): Promise<Set<string>> {
  const { rows } = await pool.query<{ taskId: string }>(
    `SELECT "task_id" AS "taskId" FROM "run_task" WHERE "run_id" = $1 AND "status" = 'SUCCESS'`,
    [run.id],
  );
  const succeeded = new Set(rows.map(({ taskId }) => taskId));
  const present = await Promise.all(
    units.map(async ({ id, task }) => {
      if (!succeeded.has(id)) return [];
      if (task.spec.kind === 'target') return [id];
      const result = path.join(runDirectory(services, run.id), `${id}.parquet`);
      return access(result).then(
        () => [id],
        () => [],
      );
    }),
  );
  return new Set(present.flat());
}

/** A definition that counts for one run alone begins where it says, and moves nothing. */
async function sourceWatermarks(pool: Pool, run: ClaimedRun): Promise<Map<string, string>> {
  if (!run.isOwnDefinition) return new Map();
  const { rows } = await pool.query<{ taskId: string; value: string }>(
    `SELECT "task_id" AS "taskId", "value" FROM "source_watermark" WHERE "pipeline_id" = $1`,
    [run.pipelineId],
  );
  return new Map(rows.map(({ taskId, value }) => [taskId, value]));
}

async function conclude(
  services: Services,
  pool: Pool,
  run: ClaimedRun,
  recorder: RunRecorder,
  signal: AbortSignal,
  failures: readonly TaskFailure[],
): Promise<void> {
  const reason = signal.aborted ? (signal.reason as Stop) : undefined;
  if (reason === 'draining' || reason === 'lost') return;
  if (reason !== undefined) await stopTasks(pool, run, recorder, reason);
  if (reason === 'cancelled') return finish(services, run, recorder, { state: 'CANCELLED' });
  if (reason === 'timeout') {
    return finish(services, run, recorder, {
      state: 'FAILED',
      error: 'The run took longer than its timeout',
    });
  }
  const [failure] = failures;
  if (failure) {
    return finish(services, run, recorder, {
      state: 'FAILED',
      error: `${failure.taskId}: ${failure.message}`,
    });
  }
  return finish(services, run, recorder, { state: 'SUCCESS', warned: await hasWarnings(pool, run) });
}

/** Whether a check of severity WARNING failed; one of severity ERROR would have failed its task. */
async function hasWarnings(pool: Pool, run: ClaimedRun): Promise<boolean> {
  const { rows } = await pool.query<{ warned: boolean }>(
    `SELECT EXISTS (SELECT FROM "run_task", jsonb_array_elements("checks") AS found
     WHERE "run_id" = $1 AND NOT (found ->> 'passed')::boolean) AS "warned"`,
    [run.id],
  );
  return rows[0]?.warned ?? false;
}

/** Tasks that were under way or waiting when the run was stopped. */
async function stopTasks(pool: Pool, run: ClaimedRun, recorder: RunRecorder, reason: Stop): Promise<void> {
  const { rows } = await pool.query<{ taskId: string; attempt: number; started: boolean }>(
    `SELECT "task_id" AS "taskId", "attempt", "status" <> 'PENDING' AS "started" FROM "run_task"
     WHERE "run_id" = $1 AND "status" IN ('PENDING', 'RUNNING', 'HEALING') ORDER BY "position"`,
    [run.id],
  );
  const tasks = rows.map(({ taskId, attempt, started }) => ({
    taskId,
    attempt,
    ...(reason === 'timeout' && started
      ? { status: 'FAILED' as const, error: 'The run took longer than its timeout' }
      : { status: 'CANCELLED' as const }),
  }));
  if (tasks.length === 0) return;
  await recorder.record({ tasks, messages: tasks.map((body) => ({ type: 'task', body })) });
}

const endings = {
  SUCCESS: { status: 'COMPLETED', pipelineStatus: 'SUCCESS' },
  FAILED: { status: 'FAILED', pipelineStatus: 'FAILED' },
  CANCELLED: { status: 'CANCELLED', pipelineStatus: 'CANCELLED' },
} as const;

async function finish(
  services: Services,
  run: ClaimedRun,
  recorder: RunRecorder,
  { state, error, warned = false }: { state: keyof typeof endings; error?: string; warned?: boolean },
): Promise<void> {
  const { status, pipelineStatus } = endings[state];
  const reason = error === undefined ? {} : { error };
  await rm(runDirectory(services, run.id), { recursive: true, force: true });
  await recorder.record({
    state,
    ...reason,
    pipelineStatus: warned ? 'WARNING' : pipelineStatus,
    finished: true,
    keepsWatermarks: state === 'SUCCESS' && run.isOwnDefinition,
    messages: [{ type: 'run', body: { status, ...reason } }],
  });
}
