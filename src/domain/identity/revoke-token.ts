import { type ItsmPrincipal, itsmCaller, type RequestContext } from '../../context.js';
import { RevokedToken } from '../../entities/identity/revoked-token.js';
import { AppError } from '../../errors.js';
import { auditSource, recordAudit } from '../audit/index.js';
import { atHome } from './cross-tenant.js';
import { forbidden } from './forbidden.js';
import { implies } from './role-permissions.js';

/**
 * One access token, by its jti, while its session lives on. False for one that is no good anyway, as RFC 7009 section
 * 2.2 has it.
 * @throws AUTHORIZATION_ERROR for a token of somebody the caller may not sign out
 */
export async function revokeToken(asked: RequestContext, token: string): Promise<boolean> {
  const { itsmTokens, now } = asked.services;
  const principal = await itsmTokens.verify(token).catch((error: unknown) => {
    if (error instanceof AppError && error.code.startsWith('TOKEN_')) return undefined;
    throw error;
  });
  if (principal === undefined) return false;
  const own = itsmCaller(asked).userId === principal.userId;
  const context = own ? atHome(asked) : asked;
  requireRevocable(itsmCaller(context), principal);
  const { tokenId, organizationId } = principal;
  await context.em.fork().transactional(async (em) => {
    await em.upsert(
      RevokedToken,
      { tokenId, organizationId, revokedAt: now() },
      { onConflictAction: 'ignore' },
    );
    await recordAudit(em, {
      ...auditSource(context),
      action: 'auth.token_revoked',
      resource: { type: 'user', id: principal.userId },
      after: { tokenId },
    });
  });
  itsmTokens.tokensRevoked([tokenId]);
  return true;
}

function requireRevocable(caller: ItsmPrincipal, { userId, organizationId }: ItsmPrincipal): void {
  if (userId === caller.userId && !caller.apiKey) return;
  const needed = 'sessions:manage:all';
  if (organizationId !== caller.organizationId || !implies(caller.permissions, needed))
    throw forbidden(caller, needed);
}
