import { z } from 'zod';
import type { RequestContext } from '../../context.js';
import { Session } from '../../entities/identity/session.js';
import type { User } from '../../entities/identity/user.js';
import { newId } from '../../entities/ids.js';
import { validate } from '../validate.js';
import { type IssuedTokens, issueTokens } from './issue-tokens.js';
import { verifyCredentials } from './verify-credentials.js';

const credentials = z.object({
  email: z.string().trim().min(1, { abort: true }).max(254, { abort: true }).pipe(z.email()),
  // argon2 takes any length; the bound keeps a login from hashing a megabyte.
  password: z.string().min(1).max(1_024),
  deviceFingerprint: z.string().max(512).nullish(),
});

export type Credentials = z.input<typeof credentials>;

export interface LoggedIn extends IssuedTokens {
  user: User;
}

/** @throws VALIDATION_ERROR, AUTHENTICATION_ERROR */
export async function login(context: RequestContext, input: Credentials): Promise<LoggedIn> {
  const { email, password, deviceFingerprint } = validate(credentials, input);
  const user = await verifyCredentials(context.em, email, password);
  const tokens = await context.em.fork().transactional(async (em) => {
    const session = em.create(Session, {
      id: newId('ses'),
      organizationId: user.organizationId,
      userId: user.id,
      deviceFingerprint: deviceFingerprint ?? null,
      createdAt: context.services.now(),
      expiresAt: context.services.now(),
    });
    em.persist(session);
    return issueTokens(context.services, em, user, session);
  });
  return { ...tokens, user };
}
