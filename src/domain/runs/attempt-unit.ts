import { setTimeout as delay } from 'node:timers/promises';
import type { EngineSession, TaskOutcome } from '../../engines/engine.js';
import { EngineError } from '../../engines/engine-error.js';
import type { RunHealing } from '../../entities/runs/run.js';
import type { PipelineDefinition, Task, TaskGraph } from '../pipelines/index.js';
import type { ClaimedRun } from './claim-run.js';
import { failedChecks, taskChecks } from './quality.js';
import { progressReporter } from './report-progress.js';
import { type Progress, readUntil } from './resume-run.js';
import type { JournalEntry, TaskChange } from './run-journal.js';
import type { RunRecorder } from './run-recorder.js';
import { type MemberOutcome, memberOutcomes, type RunUnit } from './run-units.js';
import { retryDelayMs, retryPolicy, taskTimeoutMs } from './task-policy.js';
import { beginsAt } from './watermarks.js';

export interface TaskFailure {
  taskId: string;
  message: string;
}

export interface AttemptOptions {
  run: ClaimedRun;
  definition: PipelineDefinition;
  graph: TaskGraph;
  session: EngineSession;
  recorder: RunRecorder;
  /** Of earlier workers. */
  progress: Progress;
  signal: AbortSignal;
}

/** Beyond that a task that runs out of memory would run on a sixteenth of it. */
const MAX_SPILLS = 3;

type Strategy = 'RETRY' | 'RECONNECT' | 'SPILL';

interface Failed {
  taskId: string;
  strategy: Strategy;
  reason: string;
  attempt: number;
}

/**
 * Attempts a unit until it succeeds or cannot be helped (completion, Runs: self-healing). A dropped connection is
 * made anew at once and backs off from then on; out of memory halves what the task may take and spills the rest, which
 * counts as no retry; any other transient error backs off.
 * @returns the failure; undefined also when the signal was aborted
 */
export async function attemptUnit(options: AttemptOptions, unit: RunUnit): Promise<TaskFailure | undefined> {
  const { recorder, signal } = options;
  const [last] = unit.members.slice(-1);
  if (!last) throw new Error(`the unit ${unit.id} has no tasks`);
  const policy = retryPolicy(options.run, options.definition, last);
  const earlier = unit.members.flatMap(({ id }) => options.progress.get(id) ?? []);
  const firstAttempt = 1 + Math.max(0, ...earlier.map(({ attempt }) => attempt));
  let failures = Math.max(0, ...earlier.map((task) => task.failures));
  let rowsRead = -rowsCounted(unit, options.progress);
  let failed: Failed | undefined;
  let spills = 0;
  for (let attempt = firstAttempt; ; attempt += 1) {
    const running = unit.members.map(({ id }) => ({ taskId: id, status: 'RUNNING' as const, attempt }));
    await recorder.record(changes(running, { state: 'RUNNING', rowsRead }));
    rowsRead = 0;
    try {
      const outcome = await execute(options, unit, attempt, spills);
      return await succeed(options, unit, outcome, attempt, failed);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (signal.aborted) return undefined;
      const taskId = error.taskId ?? unit.id;
      const healing = outcomeOf(failed, 'FAILED');
      recorder.log({ level: 'ERROR', taskId, attempt, message: error.message });
      const strategy = strategyAgainst(error, failures + 1 < policy.maxAttempts, spills);
      if (strategy !== 'SPILL') failures += 1;
      const status = strategy ? ('HEALING' as const) : ('FAILED' as const);
      const more = { healing, ...(strategy && { state: 'HEALING' as const }) };
      await recorder.record(changes([{ taskId, status, attempt, failures, error: error.message }], more));
      if (!strategy) return { taskId, message: error.message };
      const isFirst = failed?.strategy !== strategy;
      failed = { taskId, strategy, reason: error.message, attempt };
      if (strategy === 'SPILL') spills += 1;
      else if (strategy === 'RETRY' || !isFirst) {
        await delay(retryDelayMs(policy, failures), undefined, { signal }).catch(() => undefined);
      }
      if (signal.aborted) return undefined;
    }
  }
}

function strategyAgainst(error: EngineError, mayRetry: boolean, spills: number): Strategy | undefined {
  if (error.kind === 'OUT_OF_MEMORY') return spills < MAX_SPILLS ? 'SPILL' : undefined;
  if (!error.transient || !mayRetry) return undefined;
  return error.kind === 'CONNECTION' ? 'RECONNECT' : 'RETRY';
}

/** A source that is read once more, because what it gave is lost, must not count twice. */
function rowsCounted({ members }: RunUnit, progress: Progress): number {
  return members
    .map(({ id, kind }) => ({ kind, soFar: progress.get(id) }))
    .filter(({ kind, soFar }) => kind === 'source' && soFar?.status === 'SUCCESS')
    .reduce((sum, { soFar }) => sum + (soFar?.rows ?? 0), 0);
}

/** A task that took longer than its own timeout may be faster next time; a run's timeout is final. */
async function execute(
  { run, definition, graph, recorder, session, progress, signal }: AttemptOptions,
  { id, task, members }: RunUnit,
  attempt: number,
  outOfMemory: number,
): Promise<TaskOutcome> {
  const timeout = new AbortController();
  const abort = () => timeout.abort(new DOMException('The task took too long', 'TimeoutError'));
  const timer = setTimeout(abort, taskTimeoutMs(run, definition, members.at(-1) ?? {}));
  const watermark = beginsAt(run.watermarks, graph, task);
  const until = readUntil(task, progress.get(id));
  try {
    return await session.execute(task, {
      signal: AbortSignal.any([signal, timeout.signal]),
      log: (level, message) => recorder.log({ level, message, taskId: id, attempt }),
      progress: progressReporter(({ percent, rows }) =>
        recorder.note(changes([{ taskId: id, status: 'RUNNING', attempt, percent, rows }])),
      ),
      ...(watermark !== undefined && { watermark }),
      ...(until !== undefined && { until }),
      ...(outOfMemory > 0 && { outOfMemory }),
    });
  } catch (error) {
    if (!timeout.signal.aborted || !(error instanceof EngineError) || error.kind !== 'TIMEOUT') throw error;
    throw new EngineError('TIMEOUT', error.message, { transient: true, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** A result that breaks a check of severity ERROR is a failure nobody can heal. */
async function succeed(
  { run, graph, recorder, progress }: AttemptOptions,
  unit: RunUnit,
  outcome: TaskOutcome,
  attempt: number,
  failed: Failed | undefined,
): Promise<TaskFailure | undefined> {
  const checks = taskChecks(unit.task, outcome);
  const broken = failedChecks(checks, 'ERROR');
  const error = broken.length > 0 ? `Quality: ${broken.map(({ message }) => message).join(' ')}` : undefined;
  const members = memberOutcomes(unit, outcome);
  const tasks = members.map(({ task, known }): TaskChange => {
    const watermark =
      readUntil(task, progress.get(task.id)) ?? known.watermark ?? beginsAt(run.watermarks, graph, task);
    const isLast = task.id === unit.id;
    const isBroken = isLast && error !== undefined;
    return {
      taskId: task.id,
      status: isBroken ? 'FAILED' : 'SUCCESS',
      attempt,
      ...(known.rows !== undefined && { rows: known.rows }),
      ...(known.bytes !== undefined && { bytes: known.bytes }),
      ...(known.columns && { columns: known.columns }),
      ...(watermark !== undefined && { watermark }),
      ...(isLast && checks.length > 0 && { checks }),
      ...(isBroken && { error }),
    };
  });
  const done = (outcome.healing ?? []).map(
    (healing): RunHealing => ({ ...healing, taskId: unit.id, attempt, outcome: 'SUCCESS' }),
  );
  const totals = { rowsRead: rowsOf('source', members), rowsWritten: rowsOf('target', members) ?? 0 };
  await recorder.record(changes(tasks, { ...totals, healing: [...outcomeOf(failed, 'SUCCESS'), ...done] }));
  for (const { message, severity, passed } of checks) {
    if (!passed)
      recorder.log({ level: severity === 'ERROR' ? 'ERROR' : 'WARN', taskId: unit.id, attempt, message });
  }
  return error === undefined ? undefined : { taskId: unit.id, message: error };
}

/** Null where those of one were not counted: the sum of the others would pass for all. */
function rowsOf(kind: Task['kind'], members: readonly MemberOutcome[]): number | null {
  const rows = members.filter(({ task }) => task.kind === kind).map(({ known }) => known.rows);
  return rows.every((count) => count !== undefined) ? rows.reduce((sum, count) => sum + count, 0) : null;
}

function outcomeOf(failed: Failed | undefined, outcome: 'SUCCESS' | 'FAILED'): RunHealing[] {
  return failed ? [{ ...failed, outcome }] : [];
}

/** An entry about tasks, of which whoever watches is told the same. */
export function changes(
  tasks: TaskChange[],
  more: Omit<JournalEntry, 'messages' | 'tasks'> = {},
): JournalEntry {
  return {
    ...more,
    tasks,
    messages: tasks.map(
      ({ columns: _columns, checks: _checks, watermark: _watermark, failures: _failures, ...body }) => ({
        type: 'task',
        body,
      }),
    ),
  };
}
