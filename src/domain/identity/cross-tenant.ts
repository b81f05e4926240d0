import { LRUCache } from 'lru-cache';
import { createContext, type ItsmPrincipal, type RequestContext, type Services } from '../../context.js';
import { Organization } from '../../entities/identity/organization.js';
import { UserRole } from '../../entities/identity/user.js';
import { notFound } from '../../errors.js';
import { auditSource, recordAudit } from '../audit/index.js';

const REMEMBERED = 1_000;

export interface TenantChoice {
  /**
   * X-Tenant-Slug moves a super_admin into another organization. For everybody else the token's own claim comes first
   * (ITSM document, Authentication 6), and the header says nothing.
   * @throws NOT_FOUND for a slug that is no organization's
   */
  choose(caller: ItsmPrincipal, slug: string): Promise<ItsmPrincipal>;
}

/** A slug never changes hands, so what was found stays so. */
export function createTenantChoice({ orm }: Pick<Services, 'orm'>): TenantChoice {
  const known = new LRUCache<string, string>({ max: REMEMBERED });
  return {
    async choose(caller, slug) {
      if (caller.role !== UserRole.super_admin || caller.apiKey) return caller;
      const organizationId = known.get(slug) ?? (await idOf(orm, slug));
      known.set(slug, organizationId);
      if (organizationId === caller.organizationId) return caller;
      return { ...caller, organizationId, homeOrganizationId: caller.organizationId };
    },
  };
}

async function idOf(orm: Services['orm'], slug: string): Promise<string> {
  const found = await orm.em.fork().findOne(Organization, { slug }, { fields: ['id'] });
  if (!found) throw notFound('organization', slug);
  return found.id;
}

/** Written into the organization's own log, before anything else is done there: what can't be written isn't done. */
export async function auditCrossTenant(
  context: Pick<RequestContext, 'caller' | 'client' | 'requestId' | 'em'>,
  operation: string,
): Promise<void> {
  const { itsm } = context.caller;
  if (itsm?.homeOrganizationId === undefined) return;
  const { organizationId, homeOrganizationId } = itsm;
  await recordAudit(context.em.fork(), {
    ...auditSource(context),
    action: 'super_admin.cross_tenant',
    resource: { type: 'organization', id: organizationId },
    after: { operation, homeOrganizationId },
  });
}

/** For what somebody does to their own account: the same request in their own organization, wherever they look. */
export function atHome(context: RequestContext): RequestContext {
  const { itsm } = context.caller;
  if (itsm?.homeOrganizationId === undefined) return context;
  const { homeOrganizationId, ...principal } = itsm;
  const caller = { itsm: { ...principal, organizationId: homeOrganizationId } };
  return createContext(context.services, context.requestId, caller, context.client);
}
