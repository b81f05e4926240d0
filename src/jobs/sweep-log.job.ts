import { z } from 'zod';
import { sweepEvents } from '../domain/events/index.js';
import { sweepAnswers } from '../domain/idempotency/index.js';
import { sweepRunHistory } from '../domain/runs/sweep-run-history.js';
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
    const runs = await sweepRunHistory(services, signal);
    if (events + answers + deliveries + runs > 0)
      log.info(
        { events, answers, deliveries, runs },
        'old events, repeatable answers, deliveries and runs were deleted',
      );
  },
});
