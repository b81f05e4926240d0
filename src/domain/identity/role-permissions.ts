import { UserRole } from '../../entities/identity/user.js';

export const resources = [
  'tickets',
  'comments',
  'changes',
  'workflows',
  'sla',
  'connectors',
  'webhooks',
  'users',
  'teams',
  'api_keys',
  'organization',
  'sso',
  'sessions',
  'events',
  'reports',
  'triage',
] as const;
export type Resource = (typeof resources)[number];

/** `manage` implies the other four. */
export const actions = ['create', 'read', 'update', 'delete', 'manage'] as const;
export type Action = (typeof actions)[number];

/** From narrow to wide; a wider one implies the narrower ones. */
export const scopes = ['own', 'team', 'all'] as const;
export type Scope = (typeof scopes)[number];

export type Permission = `${Resource}:${Action}:${Scope}`;

const everything = resources.map((resource): Permission => `${resource}:manage:all`);

/**
 * What each role of the ITSM document may do; it is signed into the access token at login. For `own` read: made,
 * requested or assigned by or to me; for `team`: also my teams'; for `all`: the whole organization. A super_admin
 * holds in each tenant what its tenant_admin holds: reaching across tenants comes from the role, not from here.
 */
export const rolePermissions: Readonly<Record<UserRole, readonly Permission[]>> = {
  end_user: [
    'tickets:create:own',
    'tickets:read:own',
    'tickets:update:own',
    'comments:create:own',
    'comments:read:own',
    'comments:update:own',
    'comments:delete:own',
    'users:read:own',
    'teams:read:own',
    'organization:read:own',
    'sessions:manage:own',
  ],
  service_desk_agent: [
    'tickets:create:team',
    'tickets:read:team',
    'tickets:update:team',
    'comments:create:team',
    'comments:read:team',
    'comments:update:own',
    'comments:delete:own',
    'changes:create:own',
    'changes:read:team',
    'changes:update:own',
    'workflows:read:all',
    'sla:read:all',
    'triage:create:team',
    'triage:read:team',
    'triage:update:team',
    'users:read:team',
    'teams:read:all',
    'organization:read:own',
    'sessions:manage:own',
  ],
  service_desk_manager: [
    'tickets:manage:all',
    'comments:manage:all',
    'changes:manage:all',
    'workflows:read:all',
    'sla:manage:all',
    'connectors:read:all',
    'triage:manage:all',
    'users:read:all',
    'teams:read:all',
    'teams:update:all',
    'reports:read:all',
    'organization:read:own',
    'sessions:manage:own',
  ],
  tenant_admin: everything,
  super_admin: everything,
};

/** Every permission that grants `needed`, itself first; empty when `needed` is not resource:action:scope. */
const grantsOf = new Map<string, readonly string[]>();

for (const resource of resources) {
  for (const action of actions) {
    for (const [width, scope] of scopes.entries()) {
      const wide = scopes.slice(width);
      const wideActions = action === 'manage' ? [action] : [action, 'manage'];
      const grants = wideActions.flatMap((wider) =>
        wide.map((wideScope) => `${resource}:${wider}:${wideScope}`),
      );
      grantsOf.set(`${resource}:${action}:${scope}`, grants);
    }
  }
}

export function isPermission(text: string): text is Permission {
  return grantsOf.has(text);
}

/** Whether one of the held permissions grants the needed one; an unknown permission is granted by nothing. */
export function implies(held: readonly string[], needed: string): boolean {
  const grants = grantsOf.get(needed);
  return grants?.some((grant) => held.includes(grant)) ?? false;
}

/** The widest scope in which the action is held, for domain code to turn into a query condition. */
export function widestScope(held: readonly string[], resource: Resource, action: Action): Scope | undefined {
  return scopes.findLast((scope) => implies(held, `${resource}:${action}:${scope}`));
}

/** From the least to the highest. */
const roles = Object.values(UserRole);

/** Above zero when the first role stands above the second. */
export function compareRoles(first: UserRole, second: UserRole): number {
  return roles.indexOf(first) - roles.indexOf(second);
}

/** The lowest role that grants the permission. */
export function leastRoleWith(needed: Permission): UserRole | undefined {
  return roles.find((role) => implies(rolePermissions[role], needed));
}
