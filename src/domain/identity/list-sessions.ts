import type { EntityManager } from '@mikro-orm/postgresql';
import { itsmCaller, itsmUser, type RequestContext } from '../../context.js';
import { Session } from '../../entities/identity/session.js';
import { User } from '../../entities/identity/user.js';
import { notFound } from '../../errors.js';
import type { Page } from '../page.js';
import { atHome } from './cross-tenant.js';
import { type CreationListQuery, listByCreation } from './list-by-creation.js';

/** The caller's active sessions. @throws AUTHORIZATION_ERROR for an API key, which has none */
export async function listOwnSessions(
  context: RequestContext,
  request: CreationListQuery,
): Promise<Page<Session>> {
  return activeSessions(atHome(context), itsmUser(context).userId, request);
}

/** The active sessions of anybody in the organization. @throws NOT_FOUND */
export async function listUserSessions(
  context: RequestContext,
  userId: string,
  request: CreationListQuery,
): Promise<Page<Session>> {
  await requireUser(context, context.em.fork(), userId);
  return activeSessions(context, userId, request);
}

/** @throws NOT_FOUND for another organization's user as for none */
export async function requireUser(context: RequestContext, em: EntityManager, id: string): Promise<void> {
  const { organizationId } = itsmCaller(context);
  if ((await em.count(User, { id, organizationId })) === 0) throw notFound('user', id);
}

function activeSessions(
  context: RequestContext,
  userId: string,
  request: CreationListQuery,
): Promise<Page<Session>> {
  const { organizationId } = itsmCaller(context);
  const active = { userId, organizationId, revokedAt: null, expiresAt: { $gt: context.services.now() } };
  return listByCreation(context.em, { entity: Session, prefix: 'ses', visible: active }, request);
}
