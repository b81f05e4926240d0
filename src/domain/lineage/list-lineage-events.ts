import type { RequestContext } from '../../context.js';
import { readRows } from '../../database/read-rows.js';
import { LineageEvent } from '../../entities/lineage/lineage-event.js';
import { Run } from '../../entities/runs/run.js';
import { boundedLimit } from '../bounded-limit.js';
import { readInWorkspace } from '../workspace-resource.js';

const MAX_EVENTS = 1000;

export interface LineageQuery {
  runId?: string | null | undefined;
  limit: number;
  after?: number | null | undefined;
}

/** In order of keeping. @throws NOT_FOUND or AUTHORIZATION_ERROR for the run, VALIDATION_ERROR for the limit */
export async function listLineageEvents(
  context: RequestContext,
  { runId, limit, after }: LineageQuery,
): Promise<LineageEvent[]> {
  if (runId) await readInWorkspace(context, Run, runId);
  const events = context.em
    .createQueryBuilder(LineageEvent, 'e')
    .select('*')
    .where({ ...(runId && { runId }), ...(after != null && { id: { $gt: after } }) })
    .orderBy({ id: 'asc' })
    .limit(boundedLimit(limit, MAX_EVENTS));
  return readRows(context.em, events);
}
