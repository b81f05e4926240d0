import { z } from 'zod';
import { sweepExpired } from '../domain/identity/index.js';
import { defineJob } from './define-job.js';

export const sweepIdentityJob = defineJob({
  name: 'sweep-identity',
  payload: z.strictObject({}),
  concurrency: 1,
  every: 600_000,
  lockLifetimeMs: 10_000,
  async run(_payload, { services, signal, log }) {
    const deleted = await sweepExpired(services, signal);
    if (deleted > 0) log.info({ deleted }, 'expired sessions, tokens and codes were deleted');
  },
});
