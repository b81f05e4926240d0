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

/** The moment the whole run is given up. */
export function runDeadline(run: ClaimedRun, definition: PipelineDefinition): number {
  return run.startedAt.getTime() + (definition.timeoutMs ?? run.timeoutSeconds * 1000);
}
