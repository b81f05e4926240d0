import type { SsoProvider } from '../../../entities/identity/sso-provider.js';
import { UserRole } from '../../../entities/identity/user.js';
import type { SsoProfile } from '../../../integrations/sso/sso-protocol.js';
import { compareRoles } from '../role-permissions.js';

export interface SsoRole {
  /** Undefined where groups have no say. */
  fromGroups: UserRole | undefined;
  forNewUser: UserRole;
}

/** The highest role any of the groups gives; undefined for somebody whom no group lets in. */
export function roleFromGroups(provider: SsoProvider, profile: SsoProfile): SsoRole | undefined {
  const { groupsClaim, groupRoles, defaultRole } = provider;
  if (groupsClaim === null) return { fromGroups: undefined, forNewUser: defaultRole ?? UserRole.end_user };
  const groups = groupsOf(profile.claims[groupsClaim]);
  const role = groupRoles
    .filter(({ group }) => groups.has(group))
    .map((mapped) => mapped.role)
    .sort(compareRoles)
    .at(-1);
  const given = role ?? defaultRole;
  return given === null ? undefined : { fromGroups: given, forNewUser: given };
}

function groupsOf(claim: unknown): Set<string> {
  const values: unknown[] = Array.isArray(claim) ? claim : [claim];
  return new Set(values.filter((value) => typeof value === 'string'));
}
