import type { PipelineDefinition, RetryPolicy, Task } from '../pipelines/index.js';
import type { ClaimedRun } from './claim-run.js';

/** Task before YAML before record (completion, Pipeline definition); attempts are maxRetries + 1. */
export function retryPolicy(run: ClaimedRun, definition: PipelineDefinition, task: Task): RetryPolicy {
  return (
    task.retry ??
    definition.retry ?? {
      type: 'fixed',
      intervalMs: run.retryDelaySeconds * 1000,
      maxAttempts: run.maxRetries + 1,
    }
  );
}

/** How long to wait after so many failures. Milliseconds. */
export function retryDelayMs(policy: RetryPolicy, failures: number): number {
  const delay = policy.type === 'exponential' ? policy.intervalMs * 2 ** (failures - 1) : policy.intervalMs;
  return Math.min(delay, policy.maxIntervalMs ?? Number.POSITIVE_INFINITY);
}

/** How long one attempt at the task may take: task before YAML before record. Milliseconds. */
export function taskTimeoutMs(
  run: Pick<ClaimedRun, 'timeoutSeconds'>,
  { timeoutMs: ofDefinition }: Pick<PipelineDefinition, 'timeoutMs'>,
  { timeoutMs: own }: Pick<Task, 'timeoutMs'>,
): number {
  return own ?? ofDefinition ?? run.timeoutSeconds * 1000;
}

/** The moment the whole run is given up: not before a task that names a longer timeout has had its time. */
export function runDeadline(
  run: Pick<ClaimedRun, 'startedAt' | 'timeoutSeconds'>,
  definition: Pick<PipelineDefinition, 'timeoutMs'>,
  tasks: readonly Pick<Task, 'timeoutMs'>[],
): number {
  const timeouts = [{}, ...tasks].map((task) => taskTimeoutMs(run, definition, task));
  return run.startedAt.getTime() + Math.max(...timeouts);
}
