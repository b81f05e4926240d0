import type { EntityClass, FilterQuery, LockMode } from '@mikro-orm/core';
import type { EntityManager, QBFilterQuery } from '@mikro-orm/postgresql';
import { platformCaller, type RequestContext } from '../context.js';
import { readRows } from '../database/read-rows.js';
import { WORKSPACE_FILTER } from '../entities/tenancy.js';
import { AppError, notFound } from '../errors.js';

interface WorkspaceRow {
  id: string;
  workspaceId: string;
}

/** The tenant's wall still stands: what another organization owns is not found. */
const ALL_WORKSPACES = { [WORKSPACE_FILTER]: false };

/**
 * A resource by id for showing, told apart as the platform's clients expect it: another organization's does not exist,
 * another workspace's of the same organization is refused.
 * @throws NOT_FOUND or AUTHORIZATION_ERROR
 */
export async function readInWorkspace<T extends WorkspaceRow>(
  context: RequestContext,
  entity: EntityClass<T>,
  id: string,
): Promise<T> {
  const query = context.em.createQueryBuilder(entity).select('*');
  const [row] = await readRows(context.em, query.where({ id } as QBFilterQuery<T>), ALL_WORKSPACES);
  return requireOwn(context, entity, id, row);
}

/**
 * The same for changing, in the transaction of `em`.
 * @throws NOT_FOUND or AUTHORIZATION_ERROR
 */
export async function findInWorkspace<T extends WorkspaceRow>(
  context: RequestContext,
  entity: EntityClass<T>,
  id: string,
  { em, lockMode }: { em: EntityManager; lockMode?: LockMode.PESSIMISTIC_WRITE | LockMode.PESSIMISTIC_READ },
): Promise<T> {
  const row = await em.findOne(entity, { id } as FilterQuery<T>, {
    filters: ALL_WORKSPACES,
    ...(lockMode === undefined ? {} : { lockMode }),
  });
  return requireOwn(context, entity, id, row as T | null);
}

function requireOwn<T extends WorkspaceRow>(
  context: RequestContext,
  entity: EntityClass<T>,
  id: string,
  row: T | null | undefined,
): T {
  if (!row) throw notFound(entity.name.toLowerCase(), id);
  if (row.workspaceId !== platformCaller(context).workspaceId) throw otherWorkspace();
  return row;
}

/** @throws AUTHORIZATION_ERROR when a request names a workspace that is not its token's. */
export function requireOwnWorkspace(context: RequestContext, workspaceId: string | null | undefined): void {
  if (workspaceId && workspaceId !== platformCaller(context).workspaceId) throw otherWorkspace();
}

function otherWorkspace(): AppError {
  return new AppError('AUTHORIZATION_ERROR', 'The token does not cover this workspace');
}
