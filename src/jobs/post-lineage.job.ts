import { z } from 'zod';
import { POST_LINEAGE, postLineage, sweepLineage } from '../domain/lineage/index.js';
import { defineJob } from './define-job.js';

export const postLineageJob = defineJob({
  name: POST_LINEAGE,
  payload: z.strictObject({ onlyUntried: z.literal(true).optional() }),
  concurrency: 1,
  every: 15_000,
  lockLifetimeMs: 10_000,
  async run({ onlyUntried = false }, { services, signal }) {
    if (!onlyUntried) await sweepLineage(services);
    await postLineage(services, signal, onlyUntried);
  },
});
