import { z } from 'zod';
import { sweepEvents } from '../domain/events/index.js';
import { sweepAnswers } from '../domain/idempotency/index.js';
import { sweepDeliveries } from '../domain/webhooks/index.js';
import { defineJob } from './define-job.js';

export const sweepLogJob = defineJob({
  name: 'sweep-log',
  payload: z.strictObject({}),
  concurrency: 1,
  every: 600_000,
  lockLifetimeMs: 10_000,
  async run(_payload, { services, signal, log }) {
    const events = await sweepEvents(services, signal);
    const answers = await sweepAnswers(services, signal);
    const deliveries = await sweepDeliveries(services, signal);
    if (events + answers + deliveries > 0)
      log.info({ events, answers, deliveries }, 'old events, repeatable answers and deliveries were deleted');
  },
});
