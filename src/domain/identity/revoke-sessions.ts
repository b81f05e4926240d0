import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../context.js';
import { Session } from '../../entities/identity/session.js';
import { auditSource, recordAudit } from '../audit/index.js';

/** One, all of a user, or all of a user but the one in use. */
type Which = { id: string; userId?: string } | { userId: string; id?: { $ne: string } };

/**
 * Ends the sessions that are still alive; their access tokens are refused at once, on every node. How many ended.
 * @param action what the audit log calls it; nothing is written when nothing ended
 */
export async function revokeSessions(
  context: RequestContext,
  which: Which,
  action: `auth.${string}`,
): Promise<number> {
  const { services } = context;
  const ended = await context.em.fork().transactional(async (em) => {
    const sessions = await endSessions(em, which, services.now());
    const [first] = sessions;
    if (first === undefined) return sessions;
    const resource =
      typeof which.id === 'string'
        ? { type: 'session', id: which.id }
        : { type: 'user', id: which.userId ?? null };
    const { organizationId } = first;
    const after = { sessionsTerminated: sessions.length };
    await recordAudit(em, { ...auditSource(context), organizationId, action, resource, after });
    return sessions;
  });
  services.itsmTokens.sessionsRevoked(ended.map(({ id }) => id));
  return ended.length;
}

/** For a transaction of the caller's, who tells `sessionsRevoked` after the commit. */
export async function endSessions(
  em: EntityManager,
  which: Which,
  now: Date,
): Promise<{ id: string; organizationId: string }[]> {
  return em
    .createQueryBuilder(Session)
    .update({ revokedAt: now })
    .where({ ...which, revokedAt: null, expiresAt: { $gt: now } })
    .returning(['id', 'organizationId'])
    .execute<{ id: string; organizationId: string }[]>('all');
}
