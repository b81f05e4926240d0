import type { ObjectQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type ItsmPrincipal, itsmCaller, type RequestContext } from '../../../context.js';
import { ApiKey } from '../../../entities/identity/api-key.js';
import { notFound } from '../../../errors.js';
import type { Page } from '../../page.js';
import { forbidden } from '../forbidden.js';
import { type CreationListQuery, listByCreation } from '../list-by-creation.js';
import { type Action, widestScope } from '../role-permissions.js';

/** A key has no team: whoever may not act on all keys acts on those they made. */
export function keysOf(caller: ItsmPrincipal, action: Action): ObjectQuery<ApiKey> {
  const { organizationId, userId: createdById } = caller;
  const scope = widestScope(caller.permissions, 'api_keys', action);
  if (scope === undefined) throw forbidden(caller, `api_keys:${action}:own`);
  return scope === 'all' ? { organizationId } : { organizationId, createdById };
}

export async function listApiKeys(
  context: RequestContext,
  request: CreationListQuery,
): Promise<Page<ApiKey>> {
  const visible = keysOf(itsmCaller(context), 'read');
  return listByCreation(context.em, { entity: ApiKey, prefix: 'key', visible }, request);
}

/** @throws NOT_FOUND */
export function getApiKey(context: RequestContext, id: string): Promise<ApiKey> {
  return findApiKey(context.em.fork(), itsmCaller(context), 'read', id);
}

/** @throws NOT_FOUND */
export async function findApiKey(
  em: EntityManager,
  caller: ItsmPrincipal,
  action: Action,
  id: string,
): Promise<ApiKey> {
  const key = await em.findOne(ApiKey, { $and: [{ id }, keysOf(caller, action)] });
  if (!key) throw notFound('api_key', id);
  return key;
}
