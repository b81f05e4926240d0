import type { RequestContext } from '../../context.js';
import { Session } from '../../entities/identity/session.js';

/** Ends the sessions that are still alive; their access tokens are refused at once, on every node. How many ended. */
export async function revokeSessions(
  context: RequestContext,
  which: { id: string } | { userId: string },
): Promise<number> {
  const { services } = context;
  const now = services.now();
  const ended = await context.em
    .fork()
    .createQueryBuilder(Session)
    .update({ revokedAt: now })
    .where({ ...which, revokedAt: null, expiresAt: { $gt: now } })
    .returning('id')
    .execute<{ id: string }[]>('all');
  services.itsmTokens.sessionsRevoked(ended.map(({ id }) => id));
  return ended.length;
}
