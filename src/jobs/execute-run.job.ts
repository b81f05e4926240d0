import { z } from 'zod';
import { executeRun } from '../domain/runs/execute-run.js';
import { EXECUTE_RUN } from '../domain/runs/run-jobs.js';
import { defineJob } from './define-job.js';

/** Short enough that a dead worker's job is soon somebody else's; the run's own lease decides who may work on it. */
const LOCK_MS = 60_000;

export const executeRunJob = defineJob({
  name: EXECUTE_RUN,
  payload: z.strictObject({ runId: z.uuid() }),
  lockLifetimeMs: LOCK_MS,
  run: ({ runId }, { services, signal }) => executeRun(services, runId, signal),
});
