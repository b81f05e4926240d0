import type { RequestContext } from '../../context.js';
import { readRows } from '../../database/read-rows.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { PipelineRevision } from '../../entities/pipelines/pipeline-revision.js';
import { notFound } from '../../errors.js';
import { boundedLimit } from '../bounded-limit.js';
import { readInWorkspace } from '../workspace-resource.js';

const MAX_REVISIONS = 1000;

export interface RevisionQuery {
  limit: number;
  /** Only versions below this one. */
  before?: number | null | undefined;
}

/** Newest first. @throws NOT_FOUND, AUTHORIZATION_ERROR */
export async function listRevisions(
  context: RequestContext,
  pipelineId: string,
  { limit, before }: RevisionQuery,
): Promise<PipelineRevision[]> {
  const bounded = boundedLimit(limit, MAX_REVISIONS);
  await readInWorkspace(context, Pipeline, pipelineId);
  const revisions = context.em
    .createQueryBuilder(PipelineRevision, 'r')
    .select('*')
    .where({ pipelineId })
    .orderBy({ version: 'desc' })
    .limit(bounded);
  if (typeof before === 'number') revisions.andWhere({ version: { $lt: before } });
  return readRows(context.em, revisions);
}

/** @throws NOT_FOUND for the pipeline or the version, AUTHORIZATION_ERROR */
export async function getRevision(
  context: RequestContext,
  pipelineId: string,
  version: number,
): Promise<PipelineRevision> {
  await readInWorkspace(context, Pipeline, pipelineId);
  const revision = await context.em.findOne(PipelineRevision, { pipelineId, version });
  if (!revision) throw notFound('revision', `${pipelineId}/${version}`);
  return revision;
}
