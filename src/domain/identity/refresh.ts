import { decodeJwt } from 'jose';
import type { RequestContext } from '../../context.js';
import { RefreshToken } from '../../entities/identity/refresh-token.js';
import { Session } from '../../entities/identity/session.js';
import { User } from '../../entities/identity/user.js';
import { AppError } from '../../errors.js';
import { auditDevice, requireSameDevice } from './device-fingerprint.js';
import { type IssuedTokens, issueTokens, refreshTokenHash, type TokenAnswer } from './issue-tokens.js';
import { revokeSessions } from './revoke-sessions.js';
import { tokenInvalid } from './token-error.js';

/**
 * Exchanges a refresh token for a new pair. Single use by compare-and-swap: of any number of simultaneous uses the
 * one that marks the row wins. A use later than the grace after that means that two parties hold the token, so the
 * session ends for both (RFC 9700 section 4.14.2).
 * @param deviceFingerprint what the client calls its device; an absent one is no anomaly
 * @throws TOKEN_INVALID, RATE_LIMIT_EXCEEDED, AUTHENTICATION_ERROR on another device than that of the login
 */
export async function refresh(
  context: RequestContext,
  refreshToken: string,
  deviceFingerprint?: string | null,
): Promise<TokenAnswer> {
  const { services, client } = context;
  await services.itsmTokens.verifyRefresh(refreshToken);
  await client?.countAttempt('refresh', decodeJwt(refreshToken).sub ?? '');
  const hash = refreshTokenHash(refreshToken);
  const owner = await ownerOf(context, hash);
  if (owner !== undefined) {
    await requireDevice(context, owner.session, deviceFingerprint ?? client?.deviceFingerprint);
    const issued = await issueTokens(services, owner.user, owner.session.id);
    if (await exchange(context, hash, owner.session, issued)) {
      client?.authCookie?.set(issued.answer.accessToken, issued.answer.expiresIn);
      return issued.answer;
    }
  }
  await endReusedSession(context, hash);
  throw tokenInvalid();
}

/** Undefined for a token that was used. @throws TOKEN_INVALID for an unknown one, a revoked session, a deactivated or locked user */
async function ownerOf(
  { em, services }: RequestContext,
  hash: string,
): Promise<{ user: User; session: Session } | undefined> {
  const reader = em.fork();
  const token = await reader.findOne(RefreshToken, { hash, expiresAt: { $gt: services.now() } });
  if (!token) throw tokenInvalid();
  if (token.usedAt) return undefined;
  const session = await reader.findOne(
    Session,
    { id: token.sessionId, revokedAt: null, expiresAt: { $gt: services.now() } },
    { filters: false },
  );
  if (!session) throw tokenInvalid();
  const user = await reader.findOne(
    User,
    { id: session.userId, active: true, lockedAt: null },
    { filters: false },
  );
  if (!user) throw tokenInvalid();
  return { user, session };
}

/** The token is not used up: on the device of the login it is still good. */
async function requireDevice(
  { services }: RequestContext,
  session: Session,
  sent: string | null | undefined,
): Promise<void> {
  try {
    requireSameDevice(session, sent);
  } catch (error) {
    if (error instanceof AppError) await auditDevice(services, { ...session, sessionId: session.id });
    throw error;
  }
}

/** False when somebody else was first. */
async function exchange(
  { em, services }: RequestContext,
  hash: string,
  { id, slidingExpiration }: Session,
  { stored }: IssuedTokens,
): Promise<boolean> {
  return em.fork().transactional(async (writer) => {
    const won = await writer.nativeUpdate(RefreshToken, { hash, usedAt: null }, { usedAt: services.now() });
    if (won === 0) return false;
    const { expiresAt } = stored;
    if (slidingExpiration) await writer.nativeUpdate(Session, { id }, { expiresAt }, { filters: false });
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
