import type { RequestContext } from '../../context.js';
import { RefreshToken } from '../../entities/identity/refresh-token.js';
import { Session } from '../../entities/identity/session.js';
import { User } from '../../entities/identity/user.js';
import { type IssuedTokens, issueTokens, refreshTokenHash } from './issue-tokens.js';
import { revokeSessions } from './revoke-sessions.js';
import { tokenInvalid } from './token-error.js';

/**
 * Exchanges a refresh token for a new pair. Single use by compare-and-swap: of any number of simultaneous uses the
 * one that marks the row wins. A use later than the grace after that means that two parties hold the token, so the
 * session ends for both (RFC 9700 section 4.14.2).
 * @throws TOKEN_INVALID
 */
export async function refresh(context: RequestContext, refreshToken: string): Promise<IssuedTokens> {
  const { services } = context;
  await services.itsmTokens.verifyRefresh(refreshToken);
  const hash = refreshTokenHash(refreshToken);
  const usedAt = services.now();

  const issued = await context.em.fork().transactional(async (em) => {
    const won = await em.nativeUpdate(
      RefreshToken,
      { hash, usedAt: null, expiresAt: { $gt: usedAt } },
      { usedAt },
    );
    if (won === 0) return undefined;
    const { sessionId } = await em.findOneOrFail(RefreshToken, { hash });
    const session = await em.findOne(Session, { id: sessionId, revokedAt: null }, { filters: false });
    if (!session) throw tokenInvalid();
    const user = await em.findOne(User, { id: session.userId, active: true }, { filters: false });
    if (!user) throw tokenInvalid();
    return issueTokens(services, em, user, session);
  });
  if (issued) return issued;

  await endReusedSession(context, hash, usedAt);
  throw tokenInvalid();
}

async function endReusedSession(context: RequestContext, hash: string, at: Date): Promise<void> {
  const used = await context.em.fork().findOne(RefreshToken, { hash, usedAt: { $ne: null } });
  if (!used?.usedAt) return;
  const graceMs = context.services.config.refreshReuseGraceSeconds * 1_000;
  const late = at.getTime() - used.usedAt.getTime();
  if (graceMs > 0 && late <= graceMs) return;
  const ended = await revokeSessions(context, { id: used.sessionId });
  if (ended > 0)
    context.log.warn({ sessionId: used.sessionId }, 'a used refresh token came again: session revoked');
}
