import { z } from 'zod';
import { sweepRuns } from '../domain/runs/sweep-runs.js';
import { defineJob } from './define-job.js';

export const sweepRunsJob = defineJob({
  name: 'sweep-runs',
  payload: z.strictObject({}),
  concurrency: 1,
  every: 10_000,
  lockLifetimeMs: 10_000,
  run: (_payload, { services }) => sweepRuns(services),
});
