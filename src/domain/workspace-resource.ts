import type { EntityClass, FilterQuery, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { platformCaller, type RequestContext } from '../context.js';
import { WORKSPACE_FILTER } from '../entities/tenancy.js';
import { AppError, notFound } from '../errors.js';

interface WorkspaceRow {
  id: string;
  workspaceId: string;
}

/**
 * A resource by id, told apart as the platform's clients expect it: another organization's does not exist, another
 * workspace's of the same organization is refused.
 * @throws NOT_FOUND or AUTHORIZATION_ERROR
 */
export async function findInWorkspace<T extends WorkspaceRow>(
  context: RequestContext,
  entity: EntityClass<T>,
  id: string,
  options: { em?: EntityManager; lockMode?: LockMode.PESSIMISTIC_WRITE | LockMode.PESSIMISTIC_READ } = {},
): Promise<T> {
  const { em = context.em, lockMode } = options;
  const row = await em.findOne(entity, { id } as FilterQuery<T>, {
    filters: { [WORKSPACE_FILTER]: false },
    ...(lockMode === undefined ? {} : { lockMode }),
  });
  const resource = entity.name.toLowerCase();
  if (!row) throw notFound(resource, id);
  if (row.workspaceId !== platformCaller(context).workspaceId) throw otherWorkspace();
  return row as T;
}

/** @throws AUTHORIZATION_ERROR when a request names a workspace that is not its token's. */
export function requireOwnWorkspace(context: RequestContext, workspaceId: string | null | undefined): void {
  if (workspaceId && workspaceId !== platformCaller(context).workspaceId) throw otherWorkspace();
}

function otherWorkspace(): AppError {
  return new AppError('AUTHORIZATION_ERROR', 'The token does not cover this workspace');
}
