import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../context.js';
import { RefreshToken } from '../../entities/identity/refresh-token.js';
import type { Session } from '../../entities/identity/session.js';
import type { User } from '../../entities/identity/user.js';
import { ACCESS_TOKEN_SECONDS, REFRESH_TOKEN_SECONDS } from './token-lifetimes.js';

export interface IssuedTokens {
  accessToken: string;
  refreshToken: string;
  /** Of the access token, in seconds. */
  expiresIn: number;
  tokenType: 'Bearer';
}

/** Only this is kept of a refresh token: it has 122 random bits, so a plain hash gives nothing away. */
export function refreshTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** Both tokens of a session, whose 7 days begin anew; the caller's transaction stores the refresh token's hash. */
export async function issueTokens(
  services: Services,
  em: EntityManager,
  user: User,
  session: Session,
): Promise<IssuedTokens> {
  const [accessToken, refreshToken] = await Promise.all([
    services.itsmTokens.issue(user, session.id),
    services.itsmTokens.issueRefresh(user.id, session.id),
  ]);
  const createdAt = services.now();
  const expiresAt = new Date(createdAt.getTime() + REFRESH_TOKEN_SECONDS * 1_000);
  session.expiresAt = expiresAt;
  const { organizationId, id: sessionId } = session;
  const hash = refreshTokenHash(refreshToken);
  em.persist(em.create(RefreshToken, { hash, organizationId, sessionId, createdAt, expiresAt }));
  return { accessToken, refreshToken, expiresIn: ACCESS_TOKEN_SECONDS, tokenType: 'Bearer' };
}
