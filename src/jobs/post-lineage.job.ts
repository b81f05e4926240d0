import { z } from 'zod';
import { POST_LINEAGE, postLineage, sweepLineage } from '../domain/lineage/index.js';
import { defineJob } from './define-job.js';

export const postLineageJob = defineJob({
  name: POST_LINEAGE,
  payload: z.strictObject({}),
  concurrency: 1,
  every: 15_000,
  lockLifetimeMs: 10_000,
  async run(_payload, { services, signal }) {
    await sweepLineage(services);
    await postLineage(services, signal);
  },
});
