import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import {
  type PlatformPrincipal,
  type PlatformRole,
  type PlatformTokens,
  platformRoles,
  type Services,
} from '../../context.js';
import { Workspace } from '../../entities/identity/workspace.js';
import { AppError } from '../../errors.js';
import type { IssuerKeys } from './issuer-keys.js';
import { tokenError, tokenInvalid } from './token-error.js';
import { createVerifiedTokens } from './verified-tokens.js';

/** A renamed workspace shows its new slug after that. */
const WORKSPACE_FRESH_MS = 60_000;
const WORKSPACES_REMEMBERED = 1_000;

/** Platform document, Authentication 3. Roles we don't know belong to somebody else's application. */
const platformClaims = z.object({
  iss: z.string(),
  sub: z.string().min(1),
  exp: z.number(),
  email: z.string().optional().catch(undefined),
  workspace_id: z.string().optional().catch(undefined),
  realm_access: z
    .object({ roles: z.array(z.string()) })
    .optional()
    .catch(undefined),
});

export function createPlatformTokens(options: {
  issuer: IssuerKeys;
  audience: string;
  services: Pick<Services, 'orm' | 'now'>;
}): PlatformTokens {
  const { issuer, audience, services } = options;
  const verified = createVerifiedTokens<PlatformPrincipal>();
  const workspaces = new LRUCache<string, Workspace>({ max: WORKSPACES_REMEMBERED, ttl: WORKSPACE_FRESH_MS });

  async function workspaceOf(id: string | undefined): Promise<Workspace> {
    if (id === undefined || !isUuid(id)) throw forbidden('The token names no workspace');
    const known = workspaces.get(id);
    if (known) return known;
    const workspace = await services.orm.em.fork().findOne(Workspace, { id }, { filters: false });
    if (!workspace) throw forbidden("The token's workspace is not known here");
    workspaces.set(id, workspace);
    return workspace;
  }

  async function verifyAnew(token: string): Promise<PlatformPrincipal> {
    const payload = await verifySignature(issuer, audience, token, services.now());
    const claims = platformClaims.safeParse(payload);
    if (!claims.success) throw tokenInvalid(claims.error);
    const { iss, sub, exp, email, workspace_id, realm_access } = claims.data;
    const roles = (realm_access?.roles ?? []).filter(isPlatformRole);
    if (roles.length === 0) throw forbidden('The token carries none of the roles of the platform');
    const { id, slug, organizationId } = await workspaceOf(workspace_id);
    const principal: PlatformPrincipal = {
      issuer: issuer.name ?? iss,
      subject: sub,
      email,
      roles,
      workspaceId: id,
      workspaceSlug: slug,
      organizationId,
      expiresAt: exp * 1_000,
    };
    verified.set(token, principal, exp);
    return principal;
  }

  return {
    async verify(token) {
      return verified.get(token, services.now()) ?? verifyAnew(token);
    },
  };
}

async function verifySignature(
  issuer: IssuerKeys,
  audience: string,
  token: string,
  currentDate: Date,
): Promise<JWTPayload> {
  const { accepts, key, algorithms, typ } = issuer;
  try {
    if (!(await accepts(decodeJwt(token).iss))) throw tokenInvalid();
    const expected = { algorithms, audience, currentDate, requiredClaims: ['sub', 'exp', 'iss'] };
    const { payload } = await jwtVerify(token, key, typ === undefined ? expected : { ...expected, typ });
    return payload;
  } catch (error) {
    throw tokenError(error);
  }
}

function isPlatformRole(role: string): role is PlatformRole {
  return Object.hasOwn(platformRoles, role);
}

function forbidden(message: string): AppError {
  return new AppError('AUTHORIZATION_ERROR', message);
}
