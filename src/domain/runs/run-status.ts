import type { RunState, RunStatus, RunTaskStatus } from '../../entities/runs/run-enums.js';

/** How the inside names of a run read outside (platform document, Run; completion, Runs). */
const statusOf: Record<RunState, RunStatus> = {
  QUEUED: 'PENDING',
  RUNNING: 'RUNNING',
  HEALING: 'RUNNING',
  SUCCESS: 'COMPLETED',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
};

export function statesOf(status: RunStatus): RunState[] {
  const states = Object.keys(statusOf) as RunState[];
  return states.filter((state) => statusOf[state] === status);
}

export function runStatus(state: RunState): RunStatus {
  return statusOf[state];
}

const finalStates: ReadonlySet<RunState> = new Set(['SUCCESS', 'FAILED', 'CANCELLED']);

export function isFinal(state: RunState): boolean {
  return finalStates.has(state);
}

const finishedTaskStatuses: ReadonlySet<RunTaskStatus> = new Set([
  'SUCCESS',
  'FAILED',
  'SKIPPED',
  'UPSTREAM_FAILED',
  'CANCELLED',
]);

export function isTaskFinished(status: RunTaskStatus): boolean {
  return finishedTaskStatuses.has(status);
}
