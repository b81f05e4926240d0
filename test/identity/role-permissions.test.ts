import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type PlatformRole, platformRoles } from '../../src/context.js';
import { implies, platformAllows, rolePermissions, widestScope } from '../../src/domain/identity/index.js';
import { actions, resources, scopes } from '../../src/domain/identity/role-permissions.js';

const part = {
  // Few, so that most pairs speak of the same one.
  resource: fc.constantFrom(...resources.slice(0, 2)),
  action: fc.constantFrom(...actions),
  scope: fc.constantFrom(...scopes),
};
const permission = fc.tuple(part.resource, part.action, part.scope).map((parts) => parts.join(':'));
const held = fc.array(permission, { maxLength: 6 });

/** The rule as the documents say it, one permission against another. */
function grants(one: string, needed: string): boolean {
  const [resource, action, scope] = one.split(':');
  const [neededResource, neededAction, neededScope] = needed.split(':');
  const width = (name: string | undefined) => ['own', 'team', 'all'].indexOf(`${name}`);
  const acts = action === neededAction || action === 'manage';
  return resource === neededResource && acts && width(scope) >= width(neededScope);
}

describe('implies', () => {
  it('is the rule applied to each held permission', () => {
    fc.assert(
      fc.property(held, permission, (list, needed) => {
        expect(implies(list, needed)).toBe(list.some((one) => grants(one, needed)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is transitive: what a granted permission grants is granted', () => {
    fc.assert(
      fc.property(held, permission, permission, (list, middle, needed) => {
        if (implies(list, middle) && implies([middle], needed)) expect(implies(list, needed)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never grows by taking a permission away', () => {
    fc.assert(
      fc.property(held, permission, (list, needed) => {
        if (implies(list.slice(1), needed)) expect(implies(list, needed)).toBe(true);
      }),
    );
  });

  it('grants nothing for what is not a permission, whoever asks', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes(':'));
        expect(implies(rolePermissions.super_admin, text)).toBe(false);
        expect(implies([text, `${text}:manage:all`, '*'], 'tickets:read:own')).toBe(false);
      }),
    );
    for (const text of [
      '',
      '::',
      'tickets:*:all',
      'tickets:read',
      'tickets:read:all:x',
      '__proto__',
      'constructor',
    ])
      expect(implies(rolePermissions.super_admin, text)).toBe(false);
  });
});

describe('widestScope', () => {
  it('is the widest one that is implied', () => {
    fc.assert(
      fc.property(held, part.resource, part.action, (list, resource, action) => {
        const implied = scopes.filter((scope) => implies(list, `${resource}:${action}:${scope}`));
        expect(widestScope(list, resource, action)).toBe(implied.at(-1));
      }),
    );
  });

  it.each([
    ['end_user', 'own', undefined],
    ['service_desk_agent', 'team', undefined],
    ['service_desk_manager', 'all', 'all'],
    ['tenant_admin', 'all', 'all'],
    ['super_admin', 'all', 'all'],
  ] as const)('gives %s %s tickets to read and %s to delete', (role, reads, deletes) => {
    expect(widestScope(rolePermissions[role], 'tickets', 'read')).toBe(reads);
    expect(widestScope(rolePermissions[role], 'tickets', 'delete')).toBe(deletes);
  });
});

describe('platformAllows', () => {
  it.each([
    ['ADMIN', true, true, true],
    ['ENGINEER', true, true, false],
    ['ANALYST', true, false, false],
    ['STEWARD', true, false, false],
    ['VIEWER', true, false, false],
  ] as const)('lets %s read %s, write %s, delete %s', (role, reads, writes, deletes) => {
    expect(platformAllows([role], 'read')).toBe(reads);
    expect(platformAllows([role], 'write')).toBe(writes);
    expect(platformAllows([role], 'delete')).toBe(deletes);
  });

  it('lets nobody in without a role, and counts the highest of several', () => {
    for (const action of ['read', 'write', 'delete'] as const) {
      expect(platformAllows([], action)).toBe(false);
      const some = fc.array(fc.constantFrom(...(Object.keys(platformRoles) as PlatformRole[])), {
        minLength: 1,
      });
      fc.assert(
        fc.property(some, (roles) => {
          expect(platformAllows(roles, action)).toBe(roles.some((role) => platformAllows([role], action)));
        }),
      );
    }
  });
});
