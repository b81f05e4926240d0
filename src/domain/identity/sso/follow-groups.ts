import type { RequestContext } from '../../../context.js';
import type { SsoProvider } from '../../../entities/identity/sso-provider.js';
import { type User, UserRole } from '../../../entities/identity/user.js';
import { AppError } from '../../../errors.js';
import { newEvent } from '../../../events/catalogue.js';
import type { Unit } from '../../../events/transaction.js';
import { recordAudit } from '../../audit/index.js';
import { requireOtherAdmin } from '../users/user-rules.js';

/**
 * Gives a user the role of their groups. The last tenant_admin keeps theirs whatever the groups say: an organization
 * nobody can administrate could not even mend the mapping.
 */
export async function followGroups(
  context: RequestContext,
  { em, record }: Unit,
  user: User,
  provider: SsoProvider,
  role: UserRole | undefined,
): Promise<User> {
  if (role === undefined || role === user.role) return user;
  if (user.role === UserRole.tenant_admin && (await isLastAdmin(em, user))) return user;
  const { id, email, organizationId, role: from } = user;
  Object.assign(user, { role, updatedAt: context.services.now() });
  await em.flush();
  const actor = { id: provider.id, type: 'system' as const };
  const changes = [{ field: 'role', from, to: role }];
  record(newEvent('user.updated', organizationId, { id, email, changes, actor }));
  await recordAudit(em, {
    organizationId,
    actor,
    action: 'users.updated',
    resource: { type: 'user', id },
    before: { role: from },
    after: { role },
    address: context.client?.address,
    requestId: context.requestId,
  });
  return user;
}

function isLastAdmin(em: Unit['em'], user: User): Promise<boolean> {
  return requireOtherAdmin(em, user).then(
    () => false,
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'CONFLICT') return true;
      throw error;
    },
  );
}
