import { type AttemptOptions, attemptUnit, changes, type TaskFailure } from './attempt-unit.js';
import { markUnstarted, type RunUnit, readyUnits, type Statuses } from './run-units.js';

/** More at a time would only share the session's threads. */
const PARALLEL_UNITS = 8;

export interface RunTasksOptions extends AttemptOptions {
  units: readonly RunUnit[];
  /** Ids of the units an earlier worker finished. */
  done: ReadonlySet<string>;
  /** Told of the first that is done here, when more are to come. */
  onFirstDone(): void;
}

/**
 * Runs each unit as soon as everything it waits for is done; after a failure nothing new is started.
 * @returns the failures; none when all tasks succeeded or the signal was aborted.
 */
export async function runTasks(options: RunTasksOptions): Promise<TaskFailure[]> {
  const { graph, units, done, progress, signal, recorder } = options;
  const statuses: Statuses = new Map(graph.tasks.map((task) => [task.id, 'PENDING']));
  const set = ({ members }: RunUnit, status: 'RUNNING' | 'SUCCESS' | 'PENDING') => {
    for (const { id } of members) statuses.set(id, status);
  };
  for (const unit of units) if (done.has(unit.id)) set(unit, 'SUCCESS');
  const failures: TaskFailure[] = [...progress.values()]
    .filter(({ status }) => status === 'FAILED')
    .map(({ taskId, error }) => ({ taskId, message: error ?? 'failed' }));
  for (const { taskId } of failures) statuses.set(taskId, 'FAILED');
  const running = new Map<string, Promise<void>>();
  let broken: unknown;
  let isFirst = true;
  const onDone = (unit: RunUnit) => {
    set(unit, 'SUCCESS');
    if (isFirst && units.some(({ id }) => statuses.get(id) !== 'SUCCESS')) options.onFirstDone();
    isFirst = false;
  };

  const start = (unit: RunUnit) => {
    set(unit, 'RUNNING');
    const settled = attemptUnit(options, unit)
      .then((failure) => {
        if (!failure) return onDone(unit);
        set(unit, 'PENDING');
        statuses.set(failure.taskId, 'FAILED');
        failures.push(failure);
      })
      .catch((error: unknown) => {
        broken ??= error;
      })
      .finally(() => running.delete(unit.id));
    running.set(unit.id, settled);
  };

  for (;;) {
    if (failures.length === 0 && broken === undefined && !signal.aborted) {
      for (const unit of readyUnits(units, statuses).slice(0, PARALLEL_UNITS - running.size)) start(unit);
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  if (broken !== undefined) throw broken;
  if (signal.aborted) return [];
  const unstarted = failures.length > 0 ? markUnstarted(graph, statuses) : [];
  if (unstarted.length > 0)
    await recorder.record(changes(unstarted.map((task) => ({ ...task, attempt: 0 }))));
  return failures;
}
