import { createHash, timingSafeEqual } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { z } from 'zod';
import type { RequestContext } from '../../../context.js';
import { SsoLogin } from '../../../entities/identity/sso-login.js';
import { SsoProvider } from '../../../entities/identity/sso-provider.js';
import { User } from '../../../entities/identity/user.js';
import { AppError } from '../../../errors.js';
import { validate } from '../../validate.js';
import { openSession } from '../open-session.js';
import { revokeSessions } from '../revoke-sessions.js';
import { loggedInBy, type SsoLoggedIn } from './finish-sso.js';
import { ssoHash } from './sso-connection.js';

const exchange = z.object({
  code: z.string().min(1).max(512),
  /** RFC 7636 section 4.1. */
  code_verifier: z
    .string()
    .regex(/^[A-Za-z0-9\-._~]{43,128}$/, { error: 'must be 43 to 128 unreserved characters' }),
  deviceFingerprint: z.string().max(512).nullish(),
});

export type SsoCodeExchange = z.input<typeof exchange>;

/**
 * Tokens for a one-time code, to the client that began the login and knows its code_verifier. A code that comes again
 * ends the session it gave, since then two parties hold it (RFC 6749 section 4.1.2).
 * @throws VALIDATION_ERROR, AUTHENTICATION_ERROR, ACCOUNT_LOCKED
 */
export async function exchangeSsoCode(context: RequestContext, input: SsoCodeExchange): Promise<SsoLoggedIn> {
  const { services } = context;
  const { code, code_verifier, deviceFingerprint } = validate(exchange, input);
  const codeHash = ssoHash(code);
  const em = services.orm.em.fork();
  const login = await em.findOne(SsoLogin, { codeHash }, { filters: false });
  if (!login) throw codeRefused();
  if (login.exchangedAt !== null) return endReusedCode(context, login);
  const { organizationId, providerId } = login;
  const isClients = matches(login.codeChallenge, code_verifier);
  const found = isClients && login.expiresAt > services.now();
  const user =
    found && (await em.findOne(User, { id: login.userId ?? '', organizationId }, { filters: false }));
  const provider = await em.findOne(SsoProvider, { id: providerId, enabled: true }, { filters: false });
  if (!user || !provider) {
    await use(context, em, codeHash, null);
    throw codeRefused();
  }
  const tokens = await openSession(context, user, {
    deviceFingerprint,
    method: provider.provider,
    together: async (writer, sessionId) => {
      if (!(await use(context, writer, codeHash, sessionId))) throw codeRefused();
    },
  });
  return loggedInBy(provider.provider, user, tokens);
}

/** False when somebody else was first. */
async function use(
  { services }: RequestContext,
  em: EntityManager,
  codeHash: string,
  sessionId: string | null,
): Promise<boolean> {
  const where = { codeHash, exchangedAt: null };
  const change = { exchangedAt: services.now(), sessionId };
  return (await em.nativeUpdate(SsoLogin, where, change, { filters: false })) === 1;
}

function matches(challenge: string, verifier: string): boolean {
  const expected = Buffer.from(challenge, 'base64url');
  const actual = createHash('sha256').update(verifier).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

async function endReusedCode(context: RequestContext, { sessionId }: SsoLogin): Promise<never> {
  if (sessionId !== null) await revokeSessions(context, { id: sessionId }, 'auth.sso_code_reused');
  throw codeRefused();
}

function codeRefused(): AppError {
  return new AppError('AUTHENTICATION_ERROR', 'The code or its code_verifier is not valid');
}
