import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../context.js';
import { RefreshToken } from '../../entities/identity/refresh-token.js';
import { Session } from '../../entities/identity/session.js';
import { User, UserRole } from '../../entities/identity/user.js';
import { newId } from '../../entities/ids.js';
import { AppError } from '../../errors.js';
import { recordAudit } from '../audit/index.js';
import { issueTokens, type TokenAnswer } from './issue-tokens.js';
import { lockedByAdministrator } from './verify-credentials.js';

export interface SessionStart {
  deviceFingerprint?: string | null | undefined;
  /** How the user proved to be who they are, for the audit log: `password`, `totp`, `directory-oidc` ... */
  method: string;
  /** What is to be committed with the session or not at all, such as the use of a code. */
  together?(em: EntityManager, sessionId: string): Promise<void>;
}

/**
 * The end of every login, however it began: a session, its tokens and the audit entry in one transaction. The user's
 * row is held, so that an administrator's lock that comes at the same time also ends this session, or prevents it.
 * @throws AUTHENTICATION_ERROR for a deactivated user, ACCOUNT_LOCKED, what `together` throws
 */
export async function openSession(
  context: Pick<RequestContext, 'services' | 'client' | 'requestId'>,
  user: User,
  { deviceFingerprint, method, together }: SessionStart,
): Promise<TokenAnswer> {
  const { services, client, requestId } = context;
  const sessionId = newId('ses');
  const { answer, stored } = await issueTokens(services, user, sessionId);
  const { organizationId, createdAt, expiresAt } = stored;
  await services.orm.em.fork().transactional(async (em) => {
    await holdUsable(em, user);
    await together?.(em, sessionId);
    em.create(Session, {
      id: sessionId,
      organizationId,
      userId: user.id,
      deviceFingerprint: deviceFingerprint ?? client?.deviceFingerprint ?? null,
      createdAt,
      expiresAt,
      slidingExpiration: user.role !== UserRole.super_admin,
    });
    em.create(RefreshToken, stored);
    await em.flush();
    await recordAudit(em, {
      organizationId,
      actor: { type: 'user', id: user.id },
      action: 'auth.login_succeeded',
      resource: { type: 'session', id: sessionId },
      after: { method },
      address: client?.address,
      requestId,
    });
  });
  client?.authCookie?.set(answer.accessToken, answer.expiresIn);
  return answer;
}

/**
 * The user's row stays as it is until the transaction ends. A password that was set since it was proved ends the login:
 * the new one ended all sessions, and would not have ended this one.
 * @throws AUTHENTICATION_ERROR for a deactivated user or a new password, ACCOUNT_LOCKED
 */
export async function holdUsable(
  em: EntityManager,
  { id, passwordHash }: Pick<User, 'id' | 'passwordHash'>,
): Promise<void> {
  const options = { filters: false, lockMode: LockMode.PESSIMISTIC_READ, refresh: true } as const;
  const user = await em.findOne(User, { id }, options);
  if (!user?.active) throw new AppError('AUTHENTICATION_ERROR', 'The user is not active');
  if (user.passwordHash !== passwordHash)
    throw new AppError('AUTHENTICATION_ERROR', 'The password was changed meanwhile');
  if (user.lockedAt) throw lockedByAdministrator();
}
