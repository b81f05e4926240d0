import type { RequestContext } from '../../context.js';
import { readRows } from '../../database/read-rows.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { Run } from '../../entities/runs/run.js';
import type { RunStatus } from '../../entities/runs/run-enums.js';
import { boundedLimit } from '../bounded-limit.js';
import { readInWorkspace } from '../workspace-resource.js';
import { statesOf } from './run-status.js';

const MAX_RUNS = 1000;

export interface RunQuery {
  pipelineId?: string | null | undefined;
  status?: RunStatus | null | undefined;
  limit: number;
}

/** The newest first. @throws NOT_FOUND or AUTHORIZATION_ERROR for the pipeline, VALIDATION_ERROR for the limit */
export async function listRuns(context: RequestContext, query: RunQuery): Promise<Run[]> {
  if (query.pipelineId) await readInWorkspace(context, Pipeline, query.pipelineId);
  const runs = context.em
    .createQueryBuilder(Run, 'r')
    .select('*')
    .where({
      ...(query.pipelineId && { pipelineId: query.pipelineId }),
      ...(query.status && { state: { $in: statesOf(query.status) } }),
    })
    .orderBy({ createdAt: 'desc', id: 'desc' })
    .limit(boundedLimit(query.limit, MAX_RUNS));
  return readRows(context.em, runs);
}
