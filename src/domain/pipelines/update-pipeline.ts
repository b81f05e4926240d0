import { LockMode } from '@mikro-orm/core';
import { platformCaller, type RequestContext } from '../../context.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { transactional } from '../../events/transaction.js';
import { validate } from '../validate.js';
import { findInWorkspace } from '../workspace-resource.js';
import { type UpdatePipeline, updatePipelineSchema } from './pipeline-input.js';
import { recordRevision } from './record-revision.js';
import { requireConnections } from './require-connections.js';

/** Partial; every update is a new version, also one that changes no field. @throws NOT_FOUND, VALIDATION_ERROR */
export async function updatePipeline(
  context: RequestContext,
  id: string,
  input: UpdatePipeline,
): Promise<Pipeline> {
  const changes = validate(updatePipelineSchema, input);
  return transactional(context, async ({ em }) => {
    const pipeline = await findInWorkspace(context, Pipeline, id, {
      em,
      lockMode: LockMode.PESSIMISTIC_WRITE,
    });
    await requireConnections(context, em, changes);
    // What was validated was the definition before this one.
    const isRewritten = ![undefined, pipeline.yamlDefinition].includes(changes.yamlDefinition);
    if (isRewritten && pipeline.lifecycleStage === 'VALIDATED') pipeline.lifecycleStage = 'DRAFT';
    em.assign(pipeline, { ...changes, version: pipeline.version + 1, updatedAt: context.services.now() });
    recordRevision(em, pipeline, platformCaller(context).subject, 'Update');
    return pipeline;
  });
}
