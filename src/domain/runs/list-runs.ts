import type { RequestContext } from '../../context.js';
import { readRows } from '../../database/read-rows.js';
import { Run } from '../../entities/runs/run.js';
import type { RunStatus } from '../../entities/runs/run-enums.js';
import { boundedLimit } from '../bounded-limit.js';
import { statesOf } from './run-status.js';

const MAX_RUNS = 1000;

export interface RunQuery {
  pipelineId?: string | null | undefined;
  status?: RunStatus | null | undefined;
  limit: number;
}

/** The newest first. @throws VALIDATION_ERROR for a limit out of bounds */
export async function listRuns(context: RequestContext, query: RunQuery): Promise<Run[]> {
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
