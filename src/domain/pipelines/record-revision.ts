import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pipeline } from '../../entities/pipelines/pipeline.js';
import { PipelineRevision } from '../../entities/pipelines/pipeline-revision.js';

/** What the pipeline is now, kept under its version. */
export function recordRevision(em: EntityManager, pipeline: Pipeline, author: string, message: string): void {
  em.create(PipelineRevision, {
    pipelineId: pipeline.id,
    version: pipeline.version,
    organizationId: pipeline.organizationId,
    workspaceId: pipeline.workspaceId,
    yamlDefinition: pipeline.yamlDefinition,
    author,
    message,
    createdAt: pipeline.updatedAt,
  });
}
