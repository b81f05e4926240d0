import { createHash } from 'node:crypto';
import type { Services } from '../../context.js';
import type { RefreshToken } from '../../entities/identity/refresh-token.js';
import type { User } from '../../entities/identity/user.js';
import { ACCESS_TOKEN_SECONDS, REFRESH_TOKEN_SECONDS } from './token-lifetimes.js';

export interface TokenAnswer {
  accessToken: string;
  refreshToken: string;
  /** Of the access token, in seconds. */
  expiresIn: number;
  tokenType: 'Bearer';
}

export interface IssuedTokens {
  answer: TokenAnswer;
  /** To be stored before the answer is given; the session lives as long. */
  stored: Omit<RefreshToken, 'usedAt'>;
}

/** Only this is kept of a refresh token: its jti alone has 74 random bits, so a plain hash gives nothing away. */
export function refreshTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * Both tokens of a session, whose 7 days begin anew. To be called outside of a transaction: the signing key may have
 * to be read, and logins that each hold a connection while they wait for another one would wait for ever.
 */
export async function issueTokens(services: Services, user: User, sessionId: string): Promise<IssuedTokens> {
  const [accessToken, refreshToken] = await Promise.all([
    services.itsmTokens.issue(user, sessionId),
    services.itsmTokens.issueRefresh(user.id, sessionId),
  ]);
  const createdAt = services.now();
  const expiresAt = new Date(createdAt.getTime() + REFRESH_TOKEN_SECONDS * 1_000);
  const { organizationId } = user;
  return {
    answer: { accessToken, refreshToken, expiresIn: ACCESS_TOKEN_SECONDS, tokenType: 'Bearer' },
    stored: { hash: refreshTokenHash(refreshToken), organizationId, sessionId, createdAt, expiresAt },
  };
}
