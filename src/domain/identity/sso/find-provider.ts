import type { RequestContext } from '../../../context.js';
import { Organization } from '../../../entities/identity/organization.js';
import { SsoProvider } from '../../../entities/identity/sso-provider.js';
import { notFound } from '../../../errors.js';

/**
 * Of an organization that is named by whoever has not logged in yet: the same answer for an unknown organization, one
 * without such a provider, and one that has switched it off.
 * @throws NOT_FOUND
 */
export async function findEnabledProvider(
  { services }: RequestContext,
  provider: string,
  tenant: string,
): Promise<SsoProvider> {
  const em = services.orm.em.fork();
  const organization = await em.findOne(Organization, { slug: tenant });
  const found =
    organization &&
    (await em.findOne(
      SsoProvider,
      { organizationId: organization.id, provider: provider as SsoProvider['provider'], enabled: true },
      { filters: false },
    ));
  if (!found) throw notFound('sso_provider', provider);
  return found;
}
