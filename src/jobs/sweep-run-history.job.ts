import { z } from 'zod';
import { sweepRunHistory } from '../domain/runs/sweep-run-history.js';
import { defineJob } from './define-job.js';

export const sweepRunHistoryJob = defineJob({
  name: 'sweep-run-history',
  payload: z.strictObject({}),
  concurrency: 1,
  every: 600_000,
  lockLifetimeMs: 10_000,
  async run(_payload, { services, signal, log }) {
    const runs = await sweepRunHistory(services, signal);
    if (runs > 0) log.info({ runs }, 'old runs were deleted');
  },
});
