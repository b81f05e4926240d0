import type { RequestContext } from '../../context.js';
import { readRows } from '../../database/read-rows.js';
import { Connection } from '../../entities/connections/connection.js';
import { boundedLimit } from '../bounded-limit.js';

const MAX_CONNECTIONS = 1000;

/** By name. Credentials are not part of what is read. */
export async function listConnections(context: RequestContext, limit: number): Promise<Connection[]> {
  const connections = context.em
    .createQueryBuilder(Connection, 'c')
    .select(['id', 'workspaceId', 'name', 'type', 'config', 'createdAt', 'updatedAt', 'createdBy'])
    .orderBy({ name: 'asc' })
    .limit(boundedLimit(limit, MAX_CONNECTIONS));
  return readRows(context.em, connections);
}
