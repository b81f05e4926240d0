import { setTimeout as delay } from 'node:timers/promises';
import type { EngineSession, TaskOutcome } from '../../engines/engine.js';
import { EngineError } from '../../engines/engine-error.js';
import type { RunHealing } from '../../entities/runs/run.js';
import type { PipelineDefinition } from '../pipelines/index.js';
import { failedChecks, taskChecks } from './quality.js';
import type { JournalEntry, TaskChange } from './run-journal.js';
import type { ClaimedRun } from './run-lease.js';
import type { RunRecorder } from './run-recorder.js';
import { memberOutcomes, type RunUnit } from './run-units.js';
import { retryDelayMs, retryPolicy } from './task-policy.js';

export interface TaskFailure {
  taskId: string;
  message: string;
}

export interface AttemptOptions {
  run: ClaimedRun;
  definition: PipelineDefinition;
  session: EngineSession;
  recorder: RunRecorder;
  /** Where incremental sources begin, by task. */
  watermarks: ReadonlyMap<string, string>;
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
  let failed: Failed | undefined;
  let spills = 0;
  for (let attempt = 1; ; attempt += 1) {
    await recorder.record(
      changes(
        unit.members.map(({ id }) => ({ taskId: id, status: 'RUNNING', attempt })),
        { state: 'RUNNING' },
      ),
    );
    try {
      const outcome = await execute(options, unit, attempt, spills);
      return await succeed(recorder, unit, outcome, attempt, failed);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (signal.aborted) return undefined;
      const taskId = error.taskId ?? unit.id;
      const healing = outcomeOf(failed, 'FAILED');
      recorder.log({ level: 'ERROR', taskId, attempt, message: error.message });
      const strategy = strategyAgainst(error, attempt - spills < policy.maxAttempts, spills);
      const status = strategy ? ('HEALING' as const) : ('FAILED' as const);
      const more = { healing, ...(strategy && { state: 'HEALING' as const }) };
      await recorder.record(changes([{ taskId, status, attempt, error: error.message }], more));
      if (!strategy) return { taskId, message: error.message };
      const isFirst = failed?.strategy !== strategy;
      failed = { taskId, strategy, reason: error.message, attempt };
      if (strategy === 'SPILL') spills += 1;
      else if (strategy === 'RETRY' || !isFirst) {
        await delay(retryDelayMs(policy, attempt - spills), undefined, { signal }).catch(() => undefined);
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

function execute(
  { recorder, session, watermarks, signal }: AttemptOptions,
  { id, task, members }: RunUnit,
  attempt: number,
  outOfMemory: number,
): Promise<TaskOutcome> {
  const signals = [signal];
  const timeoutMs = members.at(-1)?.timeoutMs;
  if (timeoutMs !== undefined) signals.push(AbortSignal.timeout(timeoutMs));
  const watermark = watermarks.get(id);
  return session.execute(task, {
    signal: AbortSignal.any(signals),
    log: (level, message) => recorder.log({ level, message, taskId: id, attempt }),
    ...(watermark !== undefined && { watermark }),
    ...(outOfMemory > 0 && { outOfMemory }),
  });
}

/** A result that breaks a check of severity ERROR is a failure nobody can heal. */
async function succeed(
  recorder: RunRecorder,
  unit: RunUnit,
  outcome: TaskOutcome,
  attempt: number,
  failed: Failed | undefined,
): Promise<TaskFailure | undefined> {
  const checks = taskChecks(unit.task, outcome);
  const broken = failedChecks(checks, 'ERROR');
  const error = broken.length > 0 ? `Quality: ${broken.map(({ message }) => message).join(' ')}` : undefined;
  const totals = { rowsRead: 0, rowsWritten: 0 };
  const tasks = memberOutcomes(unit, outcome).map(({ task, known }): TaskChange => {
    if (task.kind === 'source') totals.rowsRead += known.rows ?? 0;
    if (task.kind === 'target') totals.rowsWritten += known.rows ?? 0;
    const isLast = task.id === unit.id;
    const isBroken = isLast && error !== undefined;
    return {
      taskId: task.id,
      status: isBroken ? 'FAILED' : 'SUCCESS',
      attempt,
      ...(known.rows !== undefined && { rows: known.rows }),
      ...(known.bytes !== undefined && { bytes: known.bytes }),
      ...(known.columns && { columns: known.columns }),
      ...(known.watermark !== undefined && { watermark: known.watermark }),
      ...(isLast && checks.length > 0 && { checks }),
      ...(isBroken && { error }),
    };
  });
  const done = (outcome.healing ?? []).map(
    (healing): RunHealing => ({ ...healing, taskId: unit.id, attempt, outcome: 'SUCCESS' }),
  );
  await recorder.record(changes(tasks, { ...totals, healing: [...outcomeOf(failed, 'SUCCESS'), ...done] }));
  for (const { message, severity, passed } of checks) {
    if (!passed)
      recorder.log({ level: severity === 'ERROR' ? 'ERROR' : 'WARN', taskId: unit.id, attempt, message });
  }
  return error === undefined ? undefined : { taskId: unit.id, message: error };
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
    messages: tasks.map(({ columns: _columns, checks: _checks, watermark: _watermark, ...body }) => ({
      type: 'task',
      body,
    })),
  };
}
