import { LockMode } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { LineageEvent } from '../../entities/lineage/lineage-event.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { PipelineRevision } from '../../entities/pipelines/pipeline-revision.js';
import { Run } from '../../entities/runs/run.js';
import { RunMessage } from '../../entities/runs/run-message.js';
import { RunTask } from '../../entities/runs/run-task.js';
import { SourceWatermark } from '../../entities/runs/source-watermark.js';
import { runTopic } from '../../events/run-topics.js';
import { transactional } from '../../events/transaction.js';
import { findInWorkspace } from '../workspace-resource.js';

/** Removes all versions and runs. A worker that holds one of the runs finds its row gone and stops. @throws NOT_FOUND */
export async function deletePipeline(context: RequestContext, id: string): Promise<void> {
  await transactional(context, async ({ em, wakeAfterCommit }) => {
    await findInWorkspace(context, Pipeline, id, { em });
    // A run's worker locks run before pipeline; so do we, or the two would deadlock.
    await em.find(Run, { pipelineId: id }, { fields: ['id'], lockMode: LockMode.PESSIMISTIC_WRITE });
    await findInWorkspace(context, Pipeline, id, { em, lockMode: LockMode.PESSIMISTIC_WRITE });
    const runs = await em.find(Run, { pipelineId: id }, { fields: ['id'] });
    const runIds = runs.map((run) => run.id);
    await em.nativeDelete(RunMessage, { runId: { $in: runIds } });
    await em.nativeDelete(RunTask, { runId: { $in: runIds } });
    await em.nativeDelete(LineageEvent, { runId: { $in: runIds } });
    await em.nativeDelete(SourceWatermark, { pipelineId: id });
    await em.nativeDelete(Run, { pipelineId: id });
    await em.nativeDelete(PipelineRevision, { pipelineId: id });
    await em.nativeDelete(Pipeline, { id });
    for (const runId of runIds) wakeAfterCommit(runTopic(runId));
  });
}
