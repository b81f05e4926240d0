import type { RequestContext, Services } from '../../context.js';
import { User } from '../../entities/identity/user.js';
import { AppError } from '../../errors.js';
import { recordAudit } from '../audit/index.js';
import { accountKeyOf, guarded, normalEmail } from './login-guard.js';
import { type MfaMethod, mfaMethodsOf } from './mfa/mfa-methods.js';
import { verifyPassword } from './password.js';

/** What logging in needs of a request; the issuer's pages have no more. */
export interface SignInContext {
  services: Pick<Services, 'orm' | 'now' | 'secrets' | 'log'>;
  client?: RequestContext['client'];
  requestId: string;
}

export interface Verified {
  user: User;
  /** The second factors one of which is still due; empty when the password is all there is. */
  mfaMethods: MfaMethod[];
}

/**
 * The same answer, after the same work, for an unknown address, a wrong password and a deactivated account; an unknown
 * address is locked after five failures as a known one is. The one look-up that crosses tenants: an e-mail address is
 * unique over the installation and a login names no tenant.
 * @throws AUTHENTICATION_ERROR, ACCOUNT_LOCKED (without retryAfter when an administrator locked, and only to who knows
 *   the password)
 */
export async function verifyCredentials(
  context: SignInContext,
  email: string,
  password: string,
): Promise<Verified> {
  const { services } = context;
  const em = services.orm.em.fork();
  const user = await em.findOne(User, { email: normalEmail(email) }, { filters: false });
  const audit = loginAudit(context, email, user);
  const check = async () => {
    const matches = await verifyPassword(user?.active ? user.passwordHash : undefined, password);
    if (!matches || user === null) return { outcome: 'failed' as const, value: undefined };
    const mfaMethods = await mfaMethodsOf(em, user.id);
    // A password alone does not prove who has a second factor: guessing that one goes on counting.
    return { outcome: mfaMethods.length > 0 ? 'undecided' : 'passed', value: { user, mfaMethods } } as const;
  };
  const { value, locked } = await guarded(services, email, check).catch(refusal(audit));
  if (value === undefined) {
    await audit('auth.login_failed');
    if (locked) await audit('auth.account_locked');
    throw new AppError('AUTHENTICATION_ERROR', 'The e-mail address or the password is wrong');
  }
  if (value.user.lockedAt) {
    await audit('auth.login_refused');
    throw lockedByAdministrator();
  }
  return value;
}

export function lockedByAdministrator(): AppError {
  return new AppError('ACCOUNT_LOCKED', 'An administrator has locked the account');
}

type LoginAudit = ReturnType<typeof loginAudit>;

/** For what `guarded` throws: a lock is written down, whoever meets it. */
export function refusal(audit: LoginAudit) {
  return async (error: unknown): Promise<never> => {
    if (error instanceof AppError && error.code === 'ACCOUNT_LOCKED') await audit('auth.login_refused');
    throw error;
  };
}

/** Of an address nobody has, only the key is written down: people type passwords into the wrong field. */
export function loginAudit({ services, client, requestId }: SignInContext, email: string, user: User | null) {
  const resource = user
    ? { type: 'user', id: user.id }
    : { type: 'account', id: accountKeyOf(services, email) };
  return (action: `auth.${string}`, after?: object) =>
    recordAudit(services.orm.em.fork(), {
      organizationId: user?.organizationId ?? null,
      actor: { type: 'anonymous', id: null },
      action,
      resource,
      after,
      address: client?.address,
      requestId,
    });
}
