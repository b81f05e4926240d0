import type { ItsmPrincipal } from '../../context.js';
import { AppError } from '../../errors.js';
import { implies, leastRoleWith, type Permission, rolePermissions } from './role-permissions.js';

/**
 * A refusal for want of a permission. The required role is named when a higher one is what the caller lacks, and not
 * when the credential, such as an API key, holds less than its user's role.
 */
export function forbidden(caller: ItsmPrincipal, needed: Permission, field?: string): AppError {
  const what = field === undefined ? 'This' : `Setting ${field}`;
  const requiredRole = implies(rolePermissions[caller.role], needed) ? undefined : leastRoleWith(needed);
  return new AppError('AUTHORIZATION_ERROR', `${what} needs the permission ${needed}`, {
    details: {
      requiredPermission: needed,
      ...(requiredRole === undefined ? {} : { requiredRole }),
      currentRole: caller.role,
      ...(field === undefined ? {} : { field }),
    },
  });
}
