import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../context.js';
import { Connection } from '../../entities/connections/connection.js';
import { WORKSPACE_FILTER } from '../../entities/tenancy.js';
import { invalid } from '../../errors.js';
import { requireOwnWorkspace } from '../workspace-resource.js';

interface ConnectionFields {
  sourceConnectionId?: string | null | undefined;
  targetConnectionId?: string | null | undefined;
}

/**
 * Locks them against removal until the pipeline that refers to them is there as well.
 * @throws AUTHORIZATION_ERROR for a connection of another workspace, VALIDATION_ERROR naming each field whose connection
 * does not exist
 */
export async function requireConnections(
  context: RequestContext,
  em: EntityManager,
  fields: ConnectionFields,
): Promise<void> {
  const named = (['sourceConnectionId', 'targetConnectionId'] as const).filter((field) => fields[field]);
  if (named.length === 0) return;
  const ids = named.flatMap((field) => fields[field] ?? []);
  const connections = await em.find(
    Connection,
    { id: { $in: ids } },
    {
      fields: ['id', 'workspaceId'],
      filters: { [WORKSPACE_FILTER]: false },
      lockMode: LockMode.PESSIMISTIC_READ,
    },
  );
  for (const { workspaceId } of connections) requireOwnWorkspace(context, workspaceId);
  const found = new Set(connections.map((connection) => connection.id));
  const problems = named
    .filter((field) => !found.has(fields[field] ?? ''))
    .map((field) => ({
      field,
      constraint: 'exists',
      message: `${field} is no connection of this workspace`,
    }));
  if (problems.length > 0) throw invalid(problems);
}
