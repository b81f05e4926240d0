import { z } from 'zod';
import type { RequestContext } from '../../context.js';
import { RefreshToken } from '../../entities/identity/refresh-token.js';
import { Session } from '../../entities/identity/session.js';
import type { User } from '../../entities/identity/user.js';
import { newId } from '../../entities/ids.js';
import { validate } from '../validate.js';
import { issueTokens, type TokenAnswer } from './issue-tokens.js';
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

/** @throws VALIDATION_ERROR, AUTHENTICATION_ERROR, RATE_LIMIT_EXCEEDED */
export async function login(context: RequestContext, input: Credentials): Promise<LoggedIn> {
  const { email, password, deviceFingerprint } = validate(credentials, input);
  await context.client?.countAttempt('login', email);
  const user = await verifyCredentials(context.em, email, password);
  const sessionId = newId('ses');
  const { answer, stored } = await issueTokens(context.services, user, sessionId);
  const em = context.em.fork();
  const { organizationId, createdAt, expiresAt } = stored;
  em.create(Session, {
    id: sessionId,
    organizationId,
    userId: user.id,
    deviceFingerprint: deviceFingerprint ?? null,
    createdAt,
    expiresAt,
  });
  em.create(RefreshToken, stored);
  await em.flush();
  return { ...answer, user };
}
