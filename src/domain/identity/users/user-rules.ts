import type { EntityManager } from '@mikro-orm/postgresql';
import type { ItsmPrincipal } from '../../../context.js';
import { User, UserRole } from '../../../entities/identity/user.js';
import { AppError, conflict } from '../../../errors.js';
import { compareRoles } from '../role-permissions.js';

/** Nobody gives a role above their own, or touches who holds one. @throws AUTHORIZATION_ERROR */
export function requireRank(caller: ItsmPrincipal, role: UserRole, what: string): void {
  if (compareRoles(role, caller.role) <= 0) return;
  throw new AppError('AUTHORIZATION_ERROR', `${what} needs the role ${role}`, {
    details: { requiredRole: role, currentRole: caller.role },
  });
}

/**
 * Changes of roles in one organization take turns: two administrators who demote each other at once would leave none.
 * To be called before any user's row is locked.
 */
export async function holdRoles(em: EntityManager, organizationId: string): Promise<void> {
  await em.execute('select 1 from organization where id = ? for no key update', [organizationId]);
}

/** @throws CONFLICT when nobody else could administrate the organization */
export async function requireOtherAdmin(em: EntityManager, { id, organizationId }: User): Promise<void> {
  const others = await em.count(
    User,
    { id: { $ne: id }, organizationId, role: UserRole.tenant_admin, active: true, lockedAt: null },
    { filters: false },
  );
  if (others > 0) return;
  throw conflict('The last tenant_admin of an organization stays one', { id, role: UserRole.tenant_admin });
}

/** The same for everybody who has the address, here or in another organization. */
export function emailTaken(): AppError {
  return conflict('The e-mail address is in use', { field: 'email' });
}

/** Whether a write failed because the address is in use; the name of the index in the database. */
export function isEmailTaken(error: unknown): boolean {
  return (error as { constraint?: unknown }).constraint === 'user_email_unique';
}
