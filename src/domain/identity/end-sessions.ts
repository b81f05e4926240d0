import { itsmUser, type RequestContext } from '../../context.js';
import { notFound } from '../../errors.js';
import { atHome } from './cross-tenant.js';
import { requireUser } from './list-sessions.js';
import type { LoggedOut } from './logout.js';
import { revokeSessions } from './revoke-sessions.js';

/** One of the caller's own. @throws NOT_FOUND for anybody else's, or one that has ended */
export async function endOwnSession(context: RequestContext, id: string): Promise<void> {
  const { userId } = itsmUser(context);
  const ended = await revokeSessions(atHome(context), { id, userId }, 'auth.session_revoked');
  if (ended === 0) throw notFound('session', id);
}

/** All of anybody in the organization. @throws NOT_FOUND */
export async function revokeUserSessions(context: RequestContext, userId: string): Promise<LoggedOut> {
  await requireUser(context, context.em.fork(), userId);
  const sessionsTerminated = await revokeSessions(context, { userId }, 'auth.sessions_revoked');
  return { revoked: true, sessionsTerminated, message: 'All active sessions of the user were revoked' };
}
