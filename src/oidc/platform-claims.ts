import type { Account, UnknownObject } from 'oidc-provider';
import type { Services } from '../context.js';
import { OidcClient } from '../entities/identity/oidc-client.js';
import { User } from '../entities/identity/user.js';
import { query } from './query.js';

type Needs = Pick<Services, 'orm'>;

/** What the platform document asks for in an access token (Authentication 3), for a user or for a client itself. */
export async function platformClaims(
  services: Needs,
  subject: { userId: string } | { clientId: string },
): Promise<UnknownObject> {
  if ('clientId' in subject) {
    const client = await query(services, (em) => em.findOne(OidcClient, subject));
    return claims(client?.roles, client?.workspaceId);
  }
  const user = await activeUser(services, subject.userId);
  return { ...claims(user?.platformRoles, user?.defaultWorkspaceId), email: user?.email };
}

function claims(roles: string[] | undefined, workspaceId: string | null | undefined): UnknownObject {
  return { realm_access: { roles: roles ?? [] }, ...(workspaceId ? { workspace_id: workspaceId } : {}) };
}

/** A deactivated or locked user is nobody: codes and refresh tokens of theirs buy nothing more. */
export async function findAccount(services: Needs, userId: string): Promise<Account | undefined> {
  const user = await activeUser(services, userId);
  if (!user) return undefined;
  const { id, email, name } = user;
  return { accountId: id, claims: async () => ({ sub: id, email, name }) };
}

function activeUser(services: Needs, id: string): Promise<User | null> {
  return query(services, (em) => em.findOne(User, { id, active: true, lockedAt: null }, { filters: false }));
}
