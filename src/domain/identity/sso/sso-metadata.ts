import type { RequestContext } from '../../../context.js';
import { Organization } from '../../../entities/identity/organization.js';
import { invalidField, notFound } from '../../../errors.js';
import { ssoAddresses } from './sso-connection.js';

/**
 * What the administrator of a SAML provider loads: our entity id and where to post responses. It is there before the
 * provider is configured, since most of them want it before they show their own.
 * @throws VALIDATION_ERROR, NOT_FOUND
 */
export async function samlMetadata(
  { services }: RequestContext,
  { baseUrl, tenant }: { baseUrl: string; tenant: string | undefined },
): Promise<string> {
  if (tenant === undefined || tenant === '')
    throw invalidField('tenant', 'isDefined', 'tenant must be the slug of an organization');
  const organization = await services.orm.em.fork().findOne(Organization, { slug: tenant });
  if (!organization) throw notFound('organization', tenant);
  return services.singleSignOn.saml.metadata(ssoAddresses(baseUrl, 'saml', tenant));
}
