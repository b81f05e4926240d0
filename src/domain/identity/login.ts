import { z } from 'zod';
import type { RequestContext } from '../../context.js';
import type { User } from '../../entities/identity/user.js';
import { validate } from '../validate.js';
import type { TokenAnswer } from './issue-tokens.js';
import { type MfaChallenged, startChallenge } from './mfa/start-challenge.js';
import { openSession } from './open-session.js';
import { requireNamedTenant } from './require-tenant.js';
import { verifyCredentials } from './verify-credentials.js';

const credentials = z.object({
  email: z.string().trim().min(1, { abort: true }).max(254, { abort: true }).pipe(z.email()),
  // argon2 takes any length; the bound keeps a login from hashing a megabyte.
  password: z.string().min(1).max(1_024),
  deviceFingerprint: z.string().max(512).nullish(),
});

export type Credentials = z.input<typeof credentials>;

export interface LoggedIn extends TokenAnswer {
  user: User;
}

/**
 * Tokens, or a challenge for whoever has a second factor.
 * @throws VALIDATION_ERROR, RATE_LIMIT_EXCEEDED, AUTHENTICATION_ERROR, ACCOUNT_LOCKED
 */
export async function login(context: RequestContext, input: Credentials): Promise<LoggedIn | MfaChallenged> {
  const { email, password, deviceFingerprint } = validate(credentials, input);
  await context.client?.countAttempt('login', email.toLowerCase());
  const { user, mfaMethods } = await verifyCredentials(context, email, password);
  await requireNamedTenant(context, user);
  if (mfaMethods.length > 0) return startChallenge(context, user, mfaMethods, deviceFingerprint);
  const tokens = await openSession(context, user, { deviceFingerprint, method: 'password' });
  return { ...tokens, user };
}
