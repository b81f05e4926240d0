import type { EntityClass, FilterQuery, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { platformCaller, type RequestContext } from '../context.js';
import { type KeyedRows, readBoth, readByKey } from '../database/read-by-key.js';
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
  const [row] = await readByKey(context.em, ofAnyWorkspace(entity), [id]);
  return requireOwn(context, entity, id, row);
}

/** The same, and in the same round trip what `others` has for its id. */
export async function readInWorkspaceWith<T extends WorkspaceRow, Other extends object>(
  context: RequestContext,
  entity: EntityClass<T>,
  id: string,
  others: KeyedRows<Other>,
): Promise<[T, Other[]]> {
  const [[row], found] = await readBoth(context.em, ofAnyWorkspace(entity), others, id);
  return [requireOwn(context, entity, id, row), found];
}

function ofAnyWorkspace<T extends WorkspaceRow>(entity: EntityClass<T>): KeyedRows<T> {
  return { entity, key: 'id', filters: ALL_WORKSPACES };
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
