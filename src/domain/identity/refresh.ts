import { decodeJwt } from 'jose';
import type { RequestContext } from '../../context.js';
import { RefreshToken } from '../../entities/identity/refresh-token.js';
import { Session } from '../../entities/identity/session.js';
import { User } from '../../entities/identity/user.js';
import { type IssuedTokens, issueTokens, refreshTokenHash, type TokenAnswer } from './issue-tokens.js';
import { revokeSessions } from './revoke-sessions.js';
import { tokenInvalid } from './token-error.js';

/**
 * Exchanges a refresh token for a new pair. Single use by compare-and-swap: of any number of simultaneous uses the
 * one that marks the row wins. A use later than the grace after that means that two parties hold the token, so the
 * session ends for both (RFC 9700 section 4.14.2).
 * @throws TOKEN_INVALID, RATE_LIMIT_EXCEEDED
 */
export async function refresh(context: RequestContext, refreshToken: string): Promise<TokenAnswer> {
  const { services } = context;
  await services.itsmTokens.verifyRefresh(refreshToken);
  await context.client?.countAttempt('refresh', decodeJwt(refreshToken).sub ?? '');
  const hash = refreshTokenHash(refreshToken);
  const owner = await ownerOf(context, hash);
  if (owner !== undefined) {
    const issued = await issueTokens(services, owner.user, owner.sessionId);
    if (await exchange(context, hash, issued)) return issued.answer;
  }
  await endReusedSession(context, hash);
  throw tokenInvalid();
}

/** Undefined for a token that was used. @throws TOKEN_INVALID for an unknown one, a revoked session, a deactivated or locked user */
async function ownerOf(
  { em, services }: RequestContext,
  hash: string,
): Promise<{ user: User; sessionId: string } | undefined> {
  const reader = em.fork();
  const token = await reader.findOne(RefreshToken, { hash, expiresAt: { $gt: services.now() } });
  if (!token) throw tokenInvalid();
  if (token.usedAt) return undefined;
  const { sessionId } = token;
  const session = await reader.findOne(Session, { id: sessionId, revokedAt: null }, { filters: false });
  if (!session) throw tokenInvalid();
  const user = await reader.findOne(
    User,
    { id: session.userId, active: true, lockedAt: null },
    { filters: false },
  );
  if (!user) throw tokenInvalid();
  return { user, sessionId };
}

/** False when somebody else was first. */
async function exchange(
  { em, services }: RequestContext,
  hash: string,
  { stored }: IssuedTokens,
): Promise<boolean> {
  return em.fork().transactional(async (writer) => {
    const won = await writer.nativeUpdate(RefreshToken, { hash, usedAt: null }, { usedAt: services.now() });
    if (won === 0) return false;
    const { sessionId: id, expiresAt } = stored;
    await writer.nativeUpdate(Session, { id }, { expiresAt }, { filters: false });
    writer.create(RefreshToken, stored);
    return true;
  });
}

async function endReusedSession(context: RequestContext, hash: string): Promise<void> {
  const { config, now } = context.services;
  const used = await context.em.fork().findOne(RefreshToken, { hash, usedAt: { $ne: null } });
  if (!used?.usedAt) return;
  const graceMs = config.refreshReuseGraceSeconds * 1_000;
  if (graceMs > 0 && now().getTime() - used.usedAt.getTime() <= graceMs) return;
  const ended = await revokeSessions(context, { id: used.sessionId }, 'auth.refresh_token_reused');
  if (ended > 0)
    context.log.warn({ sessionId: used.sessionId }, 'a used refresh token came again: session revoked');
}
