import { z } from 'zod';
import { EMIT_LINEAGE, emitRunEvents, POST_LINEAGE } from '../domain/lineage/index.js';
import { defineJob } from './define-job.js';

export const emitLineageJob = defineJob({
  name: EMIT_LINEAGE,
  payload: z.strictObject({ runId: z.uuid() }),
  // They wait in turn for one thread; mails and runs are not to wait with them.
  concurrency: 2,
  lockLifetimeMs: 10_000,
  async run({ runId }, { services, signal }) {
    await emitRunEvents(services, runId, signal);
    if (services.config.openlineageUrl !== undefined)
      await services.jobs.enqueue(POST_LINEAGE, { onlyUntried: true });
  },
});
