import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { RequestContext } from '../../../context.js';
import { SsoLogin } from '../../../entities/identity/sso-login.js';
import { invalidField } from '../../../errors.js';
import { validate } from '../../validate.js';
import { findEnabledProvider } from './find-provider.js';
import { protocolOf, ssoAddresses, ssoConnection, ssoHash } from './sso-connection.js';

/** For a person who has to find a password and a telephone. */
const LOGIN_MS = 10 * 60_000;

/** Base64url of 32 bytes: what S256 gives (RFC 7636 section 4.2). */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

const request = z.object({
  tenant: z.string().min(1).max(255),
  code_challenge: z
    .string()
    .regex(S256_CHALLENGE, { error: 'must be base64url of a SHA-256 without padding' }),
  // Absent means plain (RFC 7636 section 4.3), which anybody who sees the request can answer.
  code_challenge_method: z.literal('S256'),
  redirect_uri: z.string().max(2_000).optional(),
  state: z.string().max(1_024).optional(),
});

/**
 * Begins a login: remembers it and says where to send the browser.
 * @throws VALIDATION_ERROR, NOT_FOUND, SERVICE_UNAVAILABLE while the provider can't be asked
 */
export async function startSso(
  context: RequestContext,
  { provider: kind, baseUrl, query }: { provider: string; baseUrl: string; query: unknown },
): Promise<URL> {
  const { services } = context;
  const asked = validate(request, query);
  const provider = await findEnabledProvider(context, kind, asked.tenant);
  const { redirect_uri: redirectUri = null } = asked;
  if (redirectUri !== null && !provider.redirectUris.includes(redirectUri))
    throw invalidField('redirect_uri', 'isRegistered', 'redirect_uri is not registered for this provider');
  const state = randomToken();
  const isSaml = provider.provider === 'saml';
  const codeVerifier = randomToken();
  // An XML id begins with no digit.
  const nonce = isSaml ? `_${randomBytes(20).toString('hex')}` : randomToken();
  const addresses = ssoAddresses(baseUrl, kind, asked.tenant);
  const connection = ssoConnection(services, provider, addresses);
  const url = await protocolOf(services, provider).begin(connection, { state, nonce, codeVerifier });
  const now = services.now();
  const em = services.orm.em.fork();
  em.create(SsoLogin, {
    stateHash: ssoHash(state),
    organizationId: provider.organizationId,
    providerId: provider.id,
    nonce,
    sealedVerifier: isSaml ? null : services.secrets.seal(codeVerifier),
    callbackUrl: addresses.callbackUrl,
    codeChallenge: asked.code_challenge,
    redirectUri,
    clientState: asked.state ?? null,
    createdAt: now,
    expiresAt: new Date(now.getTime() + LOGIN_MS),
  });
  await em.flush();
  return url;
}

/** 256 bits, in 43 characters: also a PKCE verifier, and short enough for RelayState's 80. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}
