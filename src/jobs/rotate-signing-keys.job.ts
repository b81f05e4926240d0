import { z } from 'zod';
import { rotateDueKeys } from '../domain/identity/index.js';
import { defineJob } from './define-job.js';

const DAY_MS = 24 * 3_600_000;

export const rotateSigningKeysJob = defineJob({
  name: 'rotate-signing-keys',
  payload: z.strictObject({}),
  concurrency: 1,
  every: 3_600_000,
  lockLifetimeMs: 10_000,
  async run(_payload, { services, log }) {
    const rotated = await rotateDueKeys(services, services.config.signingKeyRotationDays * DAY_MS);
    if (rotated.length > 0) log.info({ purposes: rotated }, 'signing keys were rotated');
  },
});
