import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { itsmCaller, type RequestContext } from '../../context.js';
import { MfaChallenge } from '../../entities/identity/mfa-challenge.js';
import { User, UserRole } from '../../entities/identity/user.js';
import { conflict, notFound } from '../../errors.js';
import { auditSource, recordAudit } from '../audit/index.js';
import { API_KEYS_TOPIC } from './api-keys/verify-api-key.js';
import { forgetFailures } from './login-guard.js';
import { endSessions } from './revoke-sessions.js';
import { holdRoles, requireOtherAdmin, requireRank } from './users/user-rules.js';

export interface UserLock {
  id: string;
  locked: boolean;
  lockedAt: Date | null;
  sessionsTerminated: number;
}

/**
 * Nobody gets in until it is undone, and every session ends. Locking again changes nothing but ends what was left.
 * @throws NOT_FOUND, CONFLICT for oneself and for the last tenant_admin, AUTHORIZATION_ERROR for somebody of a higher role
 */
export async function lockUser(context: RequestContext, id: string): Promise<UserLock> {
  const { services } = context;
  const { sessions, lockedAt } = await context.em.fork().transactional(async (em) => {
    const user = await held(context, em, id);
    const before = user.lockedAt;
    if (before === null && user.active && user.role === UserRole.tenant_admin)
      await requireOtherAdmin(em, user);
    user.lockedAt ??= services.now();
    await em.flush();
    await em.nativeDelete(MfaChallenge, { userId: id });
    const sessions = await endSessions(em, { userId: id }, services.now());
    if (before === null) await audit(context, em, 'users.locked', id, sessions.length);
    return { sessions, lockedAt: user.lockedAt };
  });
  services.wake.wake(API_KEYS_TOPIC);
  services.itsmTokens.sessionsRevoked(sessions.map((session) => session.id));
  return { id, locked: true, lockedAt, sessionsTerminated: sessions.length };
}

/** Undoes an administrator's lock and that of failed logins alike. @throws NOT_FOUND, CONFLICT, AUTHORIZATION_ERROR */
export async function unlockUser(context: RequestContext, id: string): Promise<UserLock> {
  await context.em.fork().transactional(async (em) => {
    const user = await held(context, em, id);
    user.lockedAt = null;
    await em.flush();
    await forgetFailures(em, context.services, user.email);
    await audit(context, em, 'users.unlocked', id, 0);
  });
  return { id, locked: false, lockedAt: null, sessionsTerminated: 0 };
}

async function held(context: RequestContext, em: EntityManager, id: string): Promise<User> {
  const caller = itsmCaller(context);
  // Two administrators who lock each other at once would leave none.
  await holdRoles(em, caller.organizationId);
  // Held against a login that is about to open a session (open-session.ts): one of the two sees the other.
  const user = await em.findOne(User, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!user) throw notFound('user', id);
  if (user.id === caller.userId) throw conflict('Nobody locks or unlocks themselves', { id });
  requireRank(caller, user.role, 'Locking or unlocking this user');
  return user;
}

function audit(
  context: RequestContext,
  em: EntityManager,
  action: `users.${string}`,
  id: string,
  sessionsTerminated: number,
): Promise<void> {
  return recordAudit(em, {
    ...auditSource(context),
    action,
    resource: { type: 'user', id },
    after: { sessionsTerminated },
  });
}
