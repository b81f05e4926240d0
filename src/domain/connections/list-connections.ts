import type { RequestContext } from '../../context.js';
import { readRows } from '../../database/read-rows.js';
import { Connection, type ConnectionType } from '../../entities/connections/connection.js';
import { boundedLimit } from '../bounded-limit.js';

const MAX_CONNECTIONS = 1000;

export interface ConnectionQuery {
  type?: ConnectionType | null | undefined;
  /** Part of the name, upper and lower case alike. */
  search?: string | null | undefined;
  limit: number;
}

/** By name. Credentials are not part of what is read. */
export async function listConnections(
  context: RequestContext,
  { type, search, limit }: ConnectionQuery,
): Promise<Connection[]> {
  const connections = context.em
    .createQueryBuilder(Connection, 'c')
    .select(['id', 'workspaceId', 'name', 'type', 'config', 'createdAt', 'updatedAt', 'createdBy'])
    .orderBy({ name: 'asc' })
    .limit(boundedLimit(limit, MAX_CONNECTIONS));
  if (type) connections.andWhere({ type });
  if (search) connections.andWhere({ name: { $ilike: `%${search.replace(/[\\%_]/g, '\\$&')}%` } });
  return readRows(context.em, connections);
}
