import { z } from 'zod';
import { EMIT_LINEAGE, emitRunEvents, POST_LINEAGE } from '../domain/lineage/index.js';
import { defineJob } from './define-job.js';

export const emitLineageJob = defineJob({
  name: EMIT_LINEAGE,
  payload: z.strictObject({ runId: z.uuid() }),
  lockLifetimeMs: 10_000,
  async run({ runId }, { services }) {
    await emitRunEvents(services, runId);
    if (services.config.openlineageUrl !== undefined) await services.jobs.enqueue(POST_LINEAGE, {});
  },
});
