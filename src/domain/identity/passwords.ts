import { z } from 'zod';
import { itsmUser, type RequestContext } from '../../context.js';
import { MfaChallenge } from '../../entities/identity/mfa-challenge.js';
import { User } from '../../entities/identity/user.js';
import { AppError } from '../../errors.js';
import { transactional, type Unit } from '../../events/transaction.js';
import { auditSource, type NewAuditEntry, recordAudit } from '../audit/index.js';
import { queueMail } from '../mail/index.js';
import { validate } from '../validate.js';
import { atHome } from './cross-tenant.js';
import { guarded, normalEmail } from './login-guard.js';
import { holdUsable } from './open-session.js';
import { hashPassword, verifyPassword } from './password.js';
import { findPasswordToken, usePasswordToken, voidPasswordTokens } from './password-tokens.js';
import { requirePassword } from './require-password.js';
import { endSessions } from './revoke-sessions.js';
import { tokenInvalid } from './token-error.js';

export interface PasswordAsked {
  accepted: true;
  message: string;
}

export interface PasswordSet {
  changed: true;
  sessionsTerminated: number;
  message: string;
}

const address = z.object({
  email: z.string().trim().min(1, { abort: true }).max(254, { abort: true }).pipe(z.email()),
});

/** argon2 takes any length; the bound keeps a request from hashing a megabyte. */
const secret = z.string().min(1).max(1_024);
const reset = z.object({ token: secret, password: secret });
const change = z.object({ current: secret, password: secret });

/**
 * Asks for a link that sets a new password. Whether anybody has the address is found out when the mail is written, long
 * after the answer: it and its time are the same for all.
 * @throws VALIDATION_ERROR, RATE_LIMIT_EXCEEDED
 */
export async function requestPasswordReset(
  context: RequestContext,
  input: z.input<typeof address>,
): Promise<PasswordAsked> {
  const email = normalEmail(validate(address, input).email);
  await context.client?.countAttempt('password', email);
  await transactional(context, async (unit) =>
    queueMail(unit, context.services, 'password_reset', { email }),
  );
  return { accepted: true, message: 'If somebody has this address, a link is on its way to them' };
}

/**
 * Sets the password of whoever got the link, and ends every session: who lost a password may have lost those, too.
 * @throws VALIDATION_ERROR, TOKEN_INVALID for a link that is unknown, used or past its time
 */
export async function resetPassword(
  context: RequestContext,
  input: z.input<typeof reset>,
): Promise<PasswordSet> {
  const { token, password } = validate(reset, input);
  const { services } = context;
  const reader = services.orm.em.fork();
  const found = await findPasswordToken(reader, token, services.now());
  const user = await reader.findOne(User, { id: found.userId, active: true }, { filters: false });
  if (!user) throw tokenInvalid();
  await context.client?.countAttempt('password', user.email);
  await requirePassword(services.config, password, user);
  const passwordHash = await hashPassword(password);
  return transactional(context, async (unit) => {
    await usePasswordToken(unit.em, found);
    const { organizationId } = user;
    return store(context, unit, {
      user,
      passwordHash,
      which: { userId: user.id },
      entry: {
        organizationId,
        actor: { type: 'user', id: user.id },
        action: found.purpose === 'reset' ? 'auth.password_reset' : 'auth.invitation_accepted',
      },
    });
  });
}

/**
 * The caller's own, who proves to know the present one: a wrong one counts as a failed login does. The present session
 * stays, every other one ends.
 * @throws VALIDATION_ERROR, AUTHENTICATION_ERROR, ACCOUNT_LOCKED, AUTHORIZATION_ERROR for an API key
 */
export async function changePassword(
  request: RequestContext,
  input: z.input<typeof change>,
): Promise<PasswordSet> {
  const context = atHome(request);
  const caller = itsmUser(context);
  const { current, password } = validate(change, input);
  const { services } = context;
  const user = await context.em.fork().findOneOrFail(User, { id: caller.userId });
  await context.client?.countAttempt('password', user.email);
  await requireCurrent(context, user, current);
  await requirePassword(services.config, password, user);
  const passwordHash = await hashPassword(password);
  return transactional(context, (unit) =>
    store(context, unit, {
      user,
      passwordHash,
      which: { userId: user.id, id: { $ne: caller.sessionId } },
      entry: {
        ...auditSource(context),
        organizationId: user.organizationId,
        action: 'auth.password_changed',
      },
    }),
  );
}

async function requireCurrent(context: RequestContext, user: User, current: string): Promise<void> {
  const { value: matches } = await guarded(context.services, user.email, async () => {
    const value = await verifyPassword(user.passwordHash, current);
    return { outcome: value ? ('passed' as const) : ('failed' as const), value };
  });
  if (matches) return;
  const { id, organizationId } = user;
  await recordAudit(context.services.orm.em.fork(), {
    ...auditSource(context),
    organizationId,
    action: 'auth.password_change_failed',
    resource: { type: 'user', id },
  });
  throw new AppError('AUTHENTICATION_ERROR', 'The current password is wrong');
}

interface NewPassword {
  user: User;
  passwordHash: string;
  which: Parameters<typeof endSessions>[1];
  entry: Pick<NewAuditEntry, 'organizationId' | 'actor' | 'action'>;
}

async function store(
  context: RequestContext,
  unit: Unit,
  { user, passwordHash, which, entry }: NewPassword,
): Promise<PasswordSet> {
  const { em, afterCommit } = unit;
  const { services } = context;
  const { id } = user;
  const now = services.now();
  await em.nativeUpdate(User, { id }, { passwordHash, updatedAt: now }, { filters: false });
  await holdUsable(em, { id, passwordHash });
  await em.nativeDelete(MfaChallenge, { userId: id }, { filters: false });
  await voidPasswordTokens(em, id);
  const ended = await endSessions(em, which, now);
  afterCommit(() => services.itsmTokens.sessionsRevoked(ended.map((session) => session.id)));
  queueMail(unit, services, 'password_changed', { userId: id });
  await em.flush();
  const sessionsTerminated = ended.length;
  await recordAudit(em, {
    address: context.client?.address,
    requestId: context.requestId,
    ...entry,
    resource: { type: 'user', id },
    after: { sessionsTerminated },
  });
  return { changed: true, sessionsTerminated, message: 'The password was set' };
}
