import type { RequestContext } from '../../context.js';
import { readRows } from '../../database/read-rows.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { boundedLimit } from '../bounded-limit.js';
import { requireOwnWorkspace } from '../workspace-resource.js';

const MAX_PIPELINES = 1000;

export interface PipelineQuery {
  workspaceId?: string | null | undefined;
  /** Part of the name, upper and lower case alike. */
  search?: string | null | undefined;
  limit: number;
}

/** Newest first, without their definitions. @throws AUTHORIZATION_ERROR for another workspace */
export async function listPipelines(context: RequestContext, query: PipelineQuery): Promise<Pipeline[]> {
  requireOwnWorkspace(context, query.workspaceId);
  const pipelines = context.em
    .createQueryBuilder(Pipeline, 'p')
    .select('*')
    .orderBy({ createdAt: 'desc', id: 'desc' })
    .limit(boundedLimit(query.limit, MAX_PIPELINES));
  if (query.search) pipelines.andWhere({ name: { $ilike: `%${escapeLike(query.search)}%` } });
  return readRows(context.em, pipelines);
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
