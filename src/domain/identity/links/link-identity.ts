import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { itsmUser, type RequestContext } from '../../../context.js';
import { UserIdentity } from '../../../entities/identity/user-identity.js';
import { newId } from '../../../entities/ids.js';
import { AppError, conflict, notFound } from '../../../errors.js';
import { transactional } from '../../../events/transaction.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import type { Page } from '../../page.js';
import { atHome } from '../cross-tenant.js';
import { type CreationListQuery, listByCreation } from '../list-by-creation.js';
import { LINKS_TOPIC } from './identity-links.js';

/**
 * Says that the caller and the subject of a platform token are one person; both tokens prove it. Linking again what is
 * linked gives the same link.
 * @throws TOKEN_INVALID, TOKEN_EXPIRED, AUTHORIZATION_ERROR for another organization's subject, CONFLICT for one that
 *   belongs to somebody else
 */
export async function linkIdentity(asked: RequestContext, platformToken: string): Promise<UserIdentity> {
  const context = atHome(asked);
  const { userId, organizationId } = itsmUser(context);
  const { platformTokens, now } = context.services;
  const { issuer, subject, organizationId: theirs } = await platformTokens.verify(platformToken);
  if (theirs !== organizationId)
    throw new AppError('AUTHORIZATION_ERROR', 'The platform token belongs to another organization');
  const existing = await context.em.fork().findOne(UserIdentity, { issuer, subject }, { filters: false });
  if (existing) return requireOwn(existing, userId, subject);
  try {
    return await transactional(context, async ({ em, wakeAfterCommit }) => {
      const link = em.create(UserIdentity, {
        id: newId('idn'),
        organizationId,
        userId,
        issuer,
        subject,
        createdAt: now(),
      });
      await em.flush();
      wakeAfterCommit(LINKS_TOPIC);
      await recordAudit(em, {
        ...auditSource(context),
        action: 'auth.identity_linked',
        resource: { type: 'user', id: userId },
        after: { issuer, subject },
      });
      return link;
    });
  } catch (error) {
    // Somebody was first, since we looked.
    if (error instanceof UniqueConstraintViolationException) throw taken(subject);
    throw error;
  }
}

export function listIdentities(
  asked: RequestContext,
  request: CreationListQuery,
): Promise<Page<UserIdentity>> {
  const context = atHome(asked);
  const { userId, organizationId } = itsmUser(context);
  const visible = { userId, organizationId };
  return listByCreation(context.em, { entity: UserIdentity, prefix: 'idn', visible }, request);
}

/** Requests with both tokens are refused from now on, on every node. @throws NOT_FOUND */
export async function unlinkIdentity(asked: RequestContext, id: string): Promise<void> {
  const context = atHome(asked);
  const { userId, organizationId } = itsmUser(context);
  await transactional(context, async ({ em, wakeAfterCommit }) => {
    const deleted = await em.nativeDelete(UserIdentity, { id, userId, organizationId });
    if (deleted === 0) throw notFound('identity', id);
    wakeAfterCommit(LINKS_TOPIC);
    await recordAudit(em, {
      ...auditSource(context),
      action: 'auth.identity_unlinked',
      resource: { type: 'user', id: userId },
    });
  });
}

function requireOwn(link: UserIdentity, userId: string, subject: string): UserIdentity {
  if (link.userId !== userId) throw taken(subject);
  return link;
}

function taken(subject: string): AppError {
  return conflict('The subject is linked to another user', { subject });
}
