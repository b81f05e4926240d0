import { type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify, SignJWT } from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { ItsmPrincipal, ItsmTokens, Services } from '../../context.js';
import { UserRole } from '../../entities/identity/user.js';
import { createLastUse } from './last-use.js';
import { createRevocations } from './revocations.js';
import { rolePermissions } from './role-permissions.js';
import { extendSessions } from './session-use.js';
import { createSigningKeys } from './signing-keys.js';
import { tokenError, tokenInvalid } from './token-error.js';
import { ACCESS_TOKEN_SECONDS, REFRESH_TOKEN_SECONDS } from './token-lifetimes.js';
import { createVerifiedTokens } from './verified-tokens.js';

/** The same on every node and behind every address, so that a token is good wherever it arrives. */
export const ITSM_ISSUER = 'urn:opsgraph:itsm';

/** What keeps a refresh token from being taken for an access token: RFC 8725 section 3.11 and 3.9. */
const kinds = {
  access: { typ: 'at+jwt', audience: 'urn:opsgraph:itsm:v1', seconds: ACCESS_TOKEN_SECONDS },
  refresh: { typ: 'refresh+jwt', audience: 'urn:opsgraph:itsm:refresh', seconds: REFRESH_TOKEN_SECONDS },
} as const;
type Kind = keyof typeof kinds;

/** ITSM document, Access token claims; their presence is checked although only we can have signed them. */
const accessClaims = z.object({
  sub: z.string(),
  email: z.string(),
  organizationId: z.string(),
  role: z.enum(UserRole),
  sessionId: z.string(),
  permissions: z.array(z.string()),
  jti: z.string(),
  exp: z.number(),
});

export function createItsmTokens(
  services: Pick<Services, 'orm' | 'secrets' | 'wake' | 'now' | 'log'>,
): ItsmTokens {
  const { now } = services;
  const keys = createSigningKeys(services, 'itsm');
  const revoked = createRevocations(services);
  const uses = createLastUse(services, 'sessions', extendSessions);
  const verified = createVerifiedTokens<ItsmPrincipal>();

  const keyOf: JWTVerifyGetKey = async ({ kid }) => {
    const key = kid === undefined ? undefined : await keys.verificationKey(kid);
    if (key === undefined) throw tokenInvalid();
    return key;
  };

  async function sign(kind: Kind, claims: JWTPayload): Promise<string> {
    const { kid, privateKey } = await keys.current();
    const { typ, audience, seconds } = kinds[kind];
    const issuedAt = Math.floor(now().getTime() / 1_000);
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ, kid })
      .setIssuer(ITSM_ISSUER)
      .setAudience(audience)
      .setJti(uuidv7())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + seconds)
      .sign(privateKey);
  }

  function expectations(kind: Kind): JWTVerifyOptions {
    const { typ, audience } = kinds[kind];
    const requiredClaims = ['sub', 'jti', 'iat', 'exp'];
    return { algorithms: ['RS256'], issuer: ITSM_ISSUER, audience, typ, requiredClaims, currentDate: now() };
  }

  async function verifySignature(token: string): Promise<ItsmPrincipal> {
    const { payload } = await jwtVerify(token, keyOf, expectations('access')).catch((error: unknown) => {
      throw tokenError(error);
    });
    const claims = accessClaims.safeParse(payload);
    if (!claims.success) throw tokenInvalid(claims.error);
    const { sub, email, organizationId, role, sessionId, permissions, jti, exp } = claims.data;
    const expiresAt = exp * 1_000;
    const principal: ItsmPrincipal = {
      userId: sub,
      email,
      organizationId,
      role,
      sessionId,
      tokenId: jti,
      permissions,
      expiresAt,
    };
    verified.set(token, principal, exp);
    return principal;
  }

  return {
    issue({ id, email, organizationId, role }, sessionId) {
      const permissions = rolePermissions[role];
      return sign('access', { sub: id, email, organizationId, role, sessionId, permissions });
    },
    async verify(token) {
      const principal = verified.get(token, now()) ?? (await verifySignature(token));
      const reading = revoked.ready();
      if (reading) await reading;
      if (revoked.has(principal.sessionId) || revoked.has(principal.tokenId)) throw tokenInvalid();
      uses.note(principal.sessionId);
      return principal;
    },
    issueRefresh: (userId, sessionId) => sign('refresh', { sub: userId, sessionId }),
    async verifyRefresh(token) {
      await jwtVerify(token, keyOf, expectations('refresh')).catch((error: unknown) => {
        const reason = tokenError(error);
        // "Expired" tells the owner of an access token to refresh; the owner of this one has to log in again.
        throw reason === error ? error : tokenInvalid(error);
      });
    },
    publicJwks: () => keys.publicJwks(),
    sessionsRevoked: (sessionIds) => revoked.announce(sessionIds),
    tokensRevoked: (tokenIds) => revoked.announce(tokenIds),
    async close() {
      await uses.close();
      await Promise.all([keys.close(), revoked.close()]);
    },
  };
}
