import { setTimeout as delay } from 'node:timers/promises';
import type { EngineSession, TaskOutcome } from '../../engines/engine.js';
import { EngineError } from '../../engines/engine-error.js';
import type { RunTaskStatus } from '../../entities/runs/run-enums.js';
import type { PipelineDefinition, Task, TaskGraph } from '../pipelines/index.js';
import type { JournalEntry } from './run-journal.js';
import type { ClaimedRun } from './run-lease.js';
import type { RunRecorder } from './run-recorder.js';
import { retryDelayMs, retryPolicy } from './task-policy.js';

/** More at a time would only share the session's threads. */
const PARALLEL_TASKS = 8;

export interface TaskFailure {
  taskId: string;
  message: string;
}

interface RunTasksOptions {
  run: ClaimedRun;
  definition: PipelineDefinition;
  graph: TaskGraph;
  session: EngineSession;
  recorder: RunRecorder;
  /** Ids of the tasks an earlier worker finished. */
  done: ReadonlySet<string>;
  signal: AbortSignal;
}

/**
 * Runs each task as soon as everything it waits for is done. Targets wait for all other tasks, so that a run which
 * fails before its results are complete has written nowhere; after a failure nothing new is started.
 * @returns the failures; none when all tasks succeeded or the signal was aborted.
 */
export async function runTasks(options: RunTasksOptions): Promise<TaskFailure[]> {
  const { graph, done, signal } = options;
  const statuses = new Map<string, RunTaskStatus>(
    graph.tasks.map((task) => [task.id, done.has(task.id) ? 'SUCCESS' : 'PENDING']),
  );
  const failures: TaskFailure[] = [];
  const running = new Map<string, Promise<void>>();
  let broken: unknown;

  const start = (task: Task) => {
    statuses.set(task.id, 'RUNNING');
    const settled = runTask(options, task)
      .then((failure) => {
        statuses.set(task.id, failure ? 'FAILED' : 'SUCCESS');
        if (failure) failures.push(failure);
      })
      .catch((error: unknown) => {
        broken ??= error;
      })
      .finally(() => running.delete(task.id));
    running.set(task.id, settled);
  };

  for (;;) {
    if (failures.length === 0 && broken === undefined && !signal.aborted) {
      for (const task of readyTasks(graph, statuses).slice(0, PARALLEL_TASKS - running.size)) start(task);
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  if (broken !== undefined) throw broken;
  if (failures.length > 0 && !signal.aborted) await markUnstarted(options, statuses);
  return signal.aborted ? [] : failures;
}

function readyTasks(graph: TaskGraph, statuses: ReadonlyMap<string, RunTaskStatus>): Task[] {
  const succeeded = (id: string) => statuses.get(id) === 'SUCCESS';
  const computed = graph.tasks.every((task) => task.kind === 'target' || succeeded(task.id));
  return graph.tasks.filter(
    (task) =>
      statuses.get(task.id) === 'PENDING' &&
      (task.kind !== 'target' || computed) &&
      task.dependsOn.every(succeeded),
  );
}

async function markUnstarted(
  { graph, recorder }: RunTasksOptions,
  statuses: Map<string, RunTaskStatus>,
): Promise<void> {
  const bad = (id: string) => statuses.get(id) === 'FAILED' || statuses.get(id) === 'UPSTREAM_FAILED';
  for (const task of graph.tasks) {
    if (statuses.get(task.id) !== 'PENDING') continue;
    statuses.set(task.id, task.dependsOn.some(bad) ? 'UPSTREAM_FAILED' : 'SKIPPED');
  }
  const tasks = graph.tasks.flatMap(({ id }) => {
    const status = statuses.get(id);
    return status === 'UPSTREAM_FAILED' || status === 'SKIPPED' ? [{ taskId: id, status, attempt: 0 }] : [];
  });
  if (tasks.length > 0) await recorder.record(taskEntry(tasks));
}

type TaskChange = NonNullable<JournalEntry['tasks']>[number];

function taskEntry(tasks: TaskChange[], more: Omit<JournalEntry, 'messages' | 'tasks'> = {}): JournalEntry {
  return { ...more, tasks, messages: tasks.map((body) => ({ type: 'task', body })) };
}

async function runTask(options: RunTasksOptions, task: Task): Promise<TaskFailure | undefined> {
  const { recorder, signal } = options;
  const policy = retryPolicy(options.run, options.definition, task);
  let failed: { reason: string; attempt: number } | undefined;
  for (let attempt = 1; ; attempt += 1) {
    await recorder.record(taskEntry([{ taskId: task.id, status: 'RUNNING', attempt }], { state: 'RUNNING' }));
    try {
      const { rows } = await attemptTask(options, task, attempt);
      const read = task.kind === 'source' ? { rowsRead: rows } : {};
      const written = task.kind === 'target' ? { rowsWritten: rows } : {};
      const healing = healed(task, failed, 'SUCCESS');
      const change = { taskId: task.id, status: 'SUCCESS' as const, attempt, rows };
      await recorder.record(taskEntry([change], { ...read, ...written, ...healing }));
      return undefined;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (signal.aborted) return undefined;
      const healing = healed(task, failed, 'FAILED');
      failed = { reason: error.message, attempt };
      recorder.log({ level: 'ERROR', taskId: task.id, attempt, message: error.message });
      const again = error.transient && attempt < policy.maxAttempts;
      const status = again ? ('HEALING' as const) : ('FAILED' as const);
      const change = { taskId: task.id, status, attempt, error: error.message };
      await recorder.record(
        taskEntry([change], { ...healing, ...(again ? { state: 'HEALING' as const } : {}) }),
      );
      if (!again) return { taskId: task.id, message: error.message };
      await delay(retryDelayMs(policy, attempt), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
    }
  }
}

function healed(
  task: Task,
  failed: { reason: string; attempt: number } | undefined,
  outcome: 'SUCCESS' | 'FAILED',
): Pick<JournalEntry, 'healing'> {
  return failed ? { healing: [{ taskId: task.id, strategy: 'RETRY', ...failed, outcome }] } : {};
}

function attemptTask(options: RunTasksOptions, task: Task, attempt: number): Promise<TaskOutcome> {
  const { recorder, session } = options;
  const signals = [options.signal];
  if (task.timeoutMs !== undefined) signals.push(AbortSignal.timeout(task.timeoutMs));
  return session.execute(task, {
    signal: AbortSignal.any(signals),
    log: (level, message) => recorder.log({ level, message, taskId: task.id, attempt }),
  });
}
