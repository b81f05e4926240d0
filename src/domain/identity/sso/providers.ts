import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { itsmCaller, type RequestContext } from '../../../context.js';
import { SsoProvider } from '../../../entities/identity/sso-provider.js';
import { newId } from '../../../entities/ids.js';
import { conflict, notFound } from '../../../errors.js';
import { transactional } from '../../../events/transaction.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { listRows } from '../../list-rows.js';
import type { Page, PageRequest, SortOrder } from '../../page.js';
import { columnsOf, secretOf, shownOf, validProvider } from './provider-fields.js';
import type { SsoProviderInput } from './provider-input.js';

export interface SsoProvidersQuery extends PageRequest {
  sortOrder?: SortOrder | null | undefined;
}

export async function listSsoProviders(
  context: RequestContext,
  query: SsoProvidersQuery,
): Promise<Page<SsoProvider>> {
  const listing = {
    entity: SsoProvider,
    prefix: 'sso' as const,
    visible: { organizationId: itsmCaller(context).organizationId },
    filters: [],
    sort: { property: 'createdAt' as const, column: 'created_at' },
    order: query.sortOrder ?? ('desc' as const),
  };
  return listRows(context.em, listing, query);
}

/** @throws NOT_FOUND */
export async function getSsoProvider(context: RequestContext, id: string): Promise<SsoProvider> {
  return find(context.em.fork(), id);
}

/** @throws VALIDATION_ERROR, CONFLICT when the organization has a provider of this kind */
export async function createSsoProvider(
  context: RequestContext,
  { provider, ...input }: SsoProviderInput & { provider: string },
): Promise<SsoProvider> {
  const { services } = context;
  const { organizationId } = itsmCaller(context);
  const fields = validProvider(services, provider, input);
  const sealedClientSecret = secretOf(services, undefined, fields, input);
  const now = services.now();
  try {
    return await transactional(context, async ({ em }) => {
      const made = em.create(SsoProvider, {
        ...columnsOf(fields),
        id: newId('sso'),
        organizationId,
        provider: fields.provider,
        sealedClientSecret,
        createdAt: now,
        updatedAt: now,
      });
      await em.flush();
      await audit(context, em, 'sso.provider_created', made.id, { after: shownOf(made) });
      return made;
    });
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw conflict('The organization has a provider of this kind', { field: 'provider', provider });
  }
}

/** What is absent stays; the whole is checked as if it were new. @throws NOT_FOUND, VALIDATION_ERROR */
export async function updateSsoProvider(
  context: RequestContext,
  id: string,
  input: SsoProviderInput,
): Promise<SsoProvider> {
  const { services } = context;
  return transactional(context, async ({ em }) => {
    // Held, so that of two changes at once none puts a secret and another issuer together.
    const provider = await find(em, id, LockMode.PESSIMISTIC_WRITE);
    const before = shownOf(provider);
    const fields = validProvider(services, provider.provider, { ...before, ...input });
    const sealedClientSecret = secretOf(services, provider, fields, input);
    em.assign(provider, { ...columnsOf(fields), sealedClientSecret, updatedAt: services.now() });
    await em.flush();
    const after = { ...shownOf(provider), secretChanged: input.clientSecret !== undefined };
    await audit(context, em, 'sso.provider_updated', id, { before, after });
    return provider;
  });
}

/** Its users stay, and so does whom it vouched for: with the same issuer again they are themselves. @throws NOT_FOUND */
export async function deleteSsoProvider(context: RequestContext, id: string): Promise<SsoProvider> {
  return transactional(context, async ({ em }) => {
    const provider = await find(em, id);
    em.remove(provider);
    await em.flush();
    await audit(context, em, 'sso.provider_deleted', id, { before: shownOf(provider) });
    return provider;
  });
}

async function find(em: EntityManager, id: string, lockMode = LockMode.NONE): Promise<SsoProvider> {
  const provider = await em.findOne(SsoProvider, { id }, { lockMode });
  if (!provider) throw notFound('sso_provider', id);
  return provider;
}

function audit(
  context: RequestContext,
  em: EntityManager,
  action: `sso.${string}`,
  id: string,
  states: { before?: object; after?: object },
): Promise<void> {
  return recordAudit(em, {
    ...auditSource(context),
    action,
    resource: { type: 'sso_provider', id },
    ...states,
  });
}
