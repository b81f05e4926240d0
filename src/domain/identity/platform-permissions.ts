import { type PlatformRole, platformRoles } from '../../context.js';

/** What a request does to the platform: over REST by its method, over GraphQL by its field's permission. */
export type PlatformAction = 'read' | 'write' | 'delete';

/** Platform document, Authentication 5: the lowest role of the hierarchy that may. */
export const platformMinimumRole: Readonly<Record<PlatformAction, PlatformRole>> = {
  read: 'VIEWER',
  write: 'ENGINEER',
  delete: 'ADMIN',
};

/** The role that counts when several are held; undefined when none is. */
export function highestPlatformRole(roles: readonly PlatformRole[]): PlatformRole | undefined {
  let highest: PlatformRole | undefined;
  for (const role of roles) {
    if (highest === undefined || platformRoles[role] > platformRoles[highest]) highest = role;
  }
  return highest;
}

export function platformAllows(roles: readonly PlatformRole[], action: PlatformAction): boolean {
  const highest = highestPlatformRole(roles);
  return highest !== undefined && platformRoles[highest] >= platformRoles[platformMinimumRole[action]];
}
