import path from 'node:path';
import type { Pool } from 'pg';
import type { Services } from '../../context.js';
import { isDatabaseAway } from '../../database/connection-error.js';
import { nativePool } from '../../database/native-pool.js';
import type { SessionOptions } from '../../engines/engine.js';
import { newUuid } from '../../entities/ids.js';
import { AppError } from '../../errors.js';
import { connectionTarget, fileOwners } from '../connections/index.js';
import type { PipelineDefinition, TaskGraph } from '../pipelines/index.js';
import type { TaskFailure } from './attempt-unit.js';
import { bindRun } from './bind-run.js';
import { type ClaimedRun, claimRun, hasHeldUp } from './claim-run.js';
import { conclude, finish, type RunEnd, type Stop, stop } from './end-run.js';
import { adoptResults, finishedUnits, readProgress, runDirectory } from './resume-run.js';
import { EMIT_LINEAGE, EXECUTE_RUN } from './run-jobs.js';
import { createRunJournal, LeaseLost } from './run-journal.js';
import { holdLease } from './run-lease.js';
import { RunRecorder } from './run-recorder.js';
import { runTasks } from './run-tasks.js';
import { planRun, type RunUnit } from './run-units.js';
import { startsOver } from './start-in-turn.js';
import { runDeadline } from './task-policy.js';

const THREADS_PER_RUN = 2;
/** A run that takes its worker down with it would otherwise take down one after the other. */
const MAX_LOSSES = 5;
/** A hundred runs that are asked for at once are accepted in this time. */
const WAIT_FOR_STARTS_MS = 1_000;

/**
 * Takes up the run that is next, if there is one with a place, and carries it to its end, or until this worker is told
 * to drain: then its lease is given back and another worker goes on from the last finished task.
 */
export async function executeRun(services: Services, draining: AbortSignal): Promise<void> {
  const pool = await nativePool(services.orm);
  const owner = newUuid();
  await startsOver(WAIT_FOR_STARTS_MS);
  const run = await claimRun(pool, owner, services.now(), services.config);
  if (!run) return;
  const runId = run.id;
  services.log.info({ runId, pipelineId: run.pipelineId }, 'run taken up');
  await tellLineage(services, runId);
  const stopping = new AbortController();
  const abort = (reason: Stop) => () => stopping.abort(reason);
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
  const recorder = new RunRecorder(journal, abort('lost'), run.logLines);
  const end = { pool, run, recorder, config: services.config };
  if (draining.aborted) stopping.abort('draining' satisfies Stop);
  if (run.cancelRequested) stopping.abort('cancelled' satisfies Stop);
  try {
    await carryOut(services, end, stopping);
    await recorder.close();
  } catch (error) {
    if (error instanceof LeaseLost) services.log.info({ runId }, 'run taken away while it was executed');
    else if (isDatabaseAway(error)) throw error;
    else {
      services.log.error({ err: error, runId }, 'run failed unexpectedly');
      await stop(end, 'FAILED', 'The run failed by an internal error');
    }
  } finally {
    await lease.release();
    await tellLineage(services, runId);
    await tellNext(services, pool, run, draining);
  }
}

/** The sweep says what is not said here. */
async function tellLineage({ jobs, log }: Services, runId: string): Promise<void> {
  await jobs.enqueue(EMIT_LINEAGE, { runId }).catch((error: unknown) => {
    log.warn({ err: error, runId }, 'lineage of the run not told yet');
  });
}

/** For a run that waited for this one's place, or for this one itself where it was put down; else the sweep tells. */
async function tellNext(
  { jobs, log, config }: Services,
  pool: Pool,
  run: ClaimedRun,
  draining: AbortSignal,
): Promise<void> {
  try {
    if (draining.aborted || (await hasHeldUp(pool, run, config))) await jobs.enqueue(EXECUTE_RUN, {});
  } catch (error) {
    log.warn({ err: error, runId: run.id }, 'the next run not started yet');
  }
}

async function carryOut(services: Services, end: RunEnd, stopping: AbortController): Promise<void> {
  const { run } = end;
  if (run.losses > MAX_LOSSES) {
    return stop(end, 'FAILED', `${run.losses} workers in a row were lost while they executed this run`);
  }
  if (run.isOvertaken) {
    return finish(end, {
      state: 'FAILED',
      error: 'A later run has already read what the incremental sources of this run were to read',
    });
  }
  let plan: { definition: PipelineDefinition; graph: TaskGraph };
  try {
    plan = bindRun(services, run);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return finish(end, { state: 'FAILED', error: error.message });
  }
  const timer = setTimeout(
    () => stopping.abort('timeout' satisfies Stop),
    runDeadline(run, plan.definition, plan.graph.tasks) - services.now().getTime(),
  );
  try {
    const failures = await executeGraph(services, end, plan, stopping.signal);
    await conclude(end, plan.graph, stopping.signal, failures);
  } finally {
    clearTimeout(timer);
  }
}

async function executeGraph(
  services: Services,
  { pool, run, recorder }: RunEnd,
  { definition, graph }: { definition: PipelineDefinition; graph: TaskGraph },
  signal: AbortSignal,
): Promise<TaskFailure[]> {
  if (signal.aborted) return [];
  const { engines, config } = services;
  const engine = engines.get(graph.engine);
  if (!engine) throw new Error(`no ${graph.engine} engine in this process`);
  const units = planRun(engine, graph, run.workspaceId);
  const progress = await readProgress(pool, run.id);
  await adoptResults(config, run, progress);
  const done = await finishedUnits(runDirectory(config, run.id), units, progress);
  await recorder.record({
    state: 'RUNNING',
    engine: engine.kind,
    pipelineStatus: 'RUNNING',
    messages: [{ type: 'run', body: { status: 'RUNNING' } }],
  });
  const session = await engine.open(sessionOptions(services, run, units, recorder));
  try {
    const onFirstDone = () => void tellLineage(services, run.id);
    return await runTasks({
      run,
      definition,
      graph,
      units,
      session,
      recorder,
      done,
      progress,
      signal,
      onFirstDone,
    });
  } finally {
    await session.close();
  }
}

function sessionOptions(
  services: Services,
  run: ClaimedRun,
  units: readonly RunUnit[],
  { secrets }: RunRecorder,
): SessionOptions {
  const { config } = services;
  return {
    runId: run.firstRunId ?? run.id,
    workspaceId: run.workspaceId,
    runDirectory: runDirectory(config, run.id),
    tasks: units.map(({ task }) => task),
    memoryLimitMb: config.runMemoryLimitMb,
    threads: THREADS_PER_RUN,
    filesRoots: config.filesRoots,
    maskKey: Buffer.from(services.secrets.deriveKey(`mask ${run.workspaceId}`)).toString('hex'),
    filesBase: path.join(config.dataDir, 'files'),
    fileOwners: fileOwners(config, run.workspaceId),
    resolveConnection: async (name) => secrets.add(await connectionTarget(services, run, name)),
  };
}
