import { z } from 'zod';
import { executeRun } from '../domain/runs/execute-run.js';
import { EXECUTE_RUN } from '../domain/runs/run-jobs.js';
import { defineJob } from './define-job.js';

/** Only says that somebody looks after a run; who may work on which is decided by the run's own lease of 30 s. */
const LOCK_MS = 10_000;

export const executeRunJob = defineJob({
  name: EXECUTE_RUN,
  payload: z.strictObject({}),
  isLong: true,
  lockLifetimeMs: LOCK_MS,
  run: (_payload, { services, signal }) => executeRun(services, signal),
});
