import type { RequestContext } from '../../context.js';
import { Organization } from '../../entities/identity/organization.js';
import { type User, UserRole } from '../../entities/identity/user.js';
import { AppError } from '../../errors.js';

/**
 * Before there is a token, X-Tenant-Slug or else the subdomain of Origin says whose login page it is: somebody else's
 * user gets the answer of a wrong password. A subdomain that is no organization's, such as www, says nothing.
 * @throws AUTHENTICATION_ERROR
 */
export async function requireNamedTenant(
  { client, services }: Pick<RequestContext, 'services'> & { client?: RequestContext['client'] },
  user: Pick<User, 'organizationId' | 'role'>,
): Promise<void> {
  if (!client?.tenant || user.role === UserRole.super_admin) return;
  const { slug, by } = client.tenant;
  const organization = await services.orm.em.fork().findOne(Organization, { slug });
  if (organization?.id === user.organizationId) return;
  if (!organization && by === 'origin') return;
  throw new AppError('AUTHENTICATION_ERROR', 'The e-mail address or the password is wrong');
}
