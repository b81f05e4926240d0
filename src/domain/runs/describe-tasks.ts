import type { RunTaskStatus } from '../../entities/runs/run-enums.js';
import type { RunTask } from '../../entities/runs/run-task.js';

/** Map of task id to status (platform document, RunStatusResponse). */
export function taskStatuses(tasks: readonly RunTask[]): Record<string, RunTaskStatus> {
  return Object.fromEntries(tasks.map((task) => [task.taskId, task.status]));
}

/** Map of task id to error, of the tasks that have one. */
export function taskErrors(tasks: readonly RunTask[]): Record<string, string> {
  return Object.fromEntries(
    tasks.flatMap((task) => (task.error === null ? [] : [[task.taskId, task.error]])),
  );
}
