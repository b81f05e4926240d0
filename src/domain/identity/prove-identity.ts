import type { EntityManager } from '@mikro-orm/postgresql';
import type { User } from '../../entities/identity/user.js';
import { recordAudit } from '../audit/index.js';
import { type ChallengeContext, type MfaChallenged, startChallenge } from './mfa/start-challenge.js';
import { meetChallenge } from './mfa/verify-mfa.js';
import { holdUsable } from './open-session.js';
import { type SignInContext, verifyCredentials } from './verify-credentials.js';

type ProofContext = SignInContext & ChallengeContext;

/**
 * For a login that opens no session of /v1, such as the issuer's page: the user, or the challenge of the second factor.
 * @throws AUTHENTICATION_ERROR, ACCOUNT_LOCKED
 */
export async function proveIdentity(
  context: ProofContext,
  email: string,
  password: string,
): Promise<{ user: User } | MfaChallenged> {
  const { user, mfaMethods } = await verifyCredentials(context, email, password);
  if (mfaMethods.length > 0) return startChallenge(context, user, mfaMethods);
  return proved(context, user, 'password');
}

/**
 * Where only a text can be typed: six digits are an authenticator's, anything else is a backup code.
 * @throws TOKEN_INVALID when the challenge is over, AUTHENTICATION_ERROR, ACCOUNT_LOCKED
 */
export async function proveSecondFactor(
  context: ProofContext,
  answer: { mfaToken: string; code: string },
): Promise<{ user: User }> {
  const method = /^\s*\d{3}\s?\d{3}\s*$/.test(answer.code) ? 'totp' : 'backup_codes';
  return meetChallenge(context, { ...answer, method }, (user, { together }) =>
    proved(context, user, method, together),
  );
}

async function proved(
  { services, client, requestId }: ProofContext,
  user: User,
  method: string,
  together?: (em: EntityManager) => Promise<void>,
): Promise<{ user: User }> {
  await services.orm.em.fork().transactional(async (em) => {
    await holdUsable(em, user);
    await together?.(em);
    await recordAudit(em, {
      organizationId: user.organizationId,
      actor: { type: 'user', id: user.id },
      action: 'auth.login_succeeded',
      resource: { type: 'user', id: user.id },
      after: { method, at: 'issuer' },
      address: client?.address,
      requestId,
    });
  });
  return { user };
}
