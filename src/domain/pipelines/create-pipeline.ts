import { platformCaller, type RequestContext } from '../../context.js';
import { newUuid } from '../../entities/ids.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { transactional } from '../../events/transaction.js';
import { validate } from '../validate.js';
import { type CreatePipeline, createPipelineSchema } from './pipeline-input.js';
import { recordRevision } from './record-revision.js';
import { requireConnections } from './require-connections.js';

/** A definition that does not validate yet is accepted: it is a draft. @throws VALIDATION_ERROR */
export async function createPipeline(context: RequestContext, input: CreatePipeline): Promise<Pipeline> {
  const caller = platformCaller(context);
  const fields = validate(createPipelineSchema, input);
  return transactional(context, async ({ em }) => {
    await requireConnections(context, em, fields);
    const now = context.services.now();
    const pipeline = em.create(Pipeline, {
      ...fields,
      description: fields.description ?? null,
      scheduleCron: fields.scheduleCron ?? null,
      sourceConnectionId: fields.sourceConnectionId ?? null,
      targetConnectionId: fields.targetConnectionId ?? null,
      notifications: fields.notifications ?? null,
      id: newUuid(),
      organizationId: caller.organizationId,
      workspaceId: caller.workspaceId,
      createdBy: caller.subject,
      createdAt: now,
      updatedAt: now,
    });
    recordRevision(em, pipeline, caller.subject, 'Create');
    return pipeline;
  });
}
