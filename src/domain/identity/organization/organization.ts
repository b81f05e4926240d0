import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/postgresql';
import { z } from 'zod';
import { itsmCaller, type RequestContext } from '../../../context.js';
import { Organization } from '../../../entities/identity/organization.js';
import { notFound } from '../../../errors.js';
import { transactional } from '../../../events/transaction.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { jsonObject } from '../../json-object.js';
import { text } from '../../storable-text.js';
import { validate } from '../../validate.js';

const updateSchema = z.object({ name: text().trim().min(1).max(255), settings: jsonObject }).partial();

export type UpdateOrganization = z.input<typeof updateSchema>;

/** The caller's own: no other can be named. */
export async function getOrganization(context: RequestContext): Promise<Organization> {
  const { organizationId: id } = itsmCaller(context);
  const organization = await context.em.findOne(Organization, { id }, { disableIdentityMap: true });
  if (!organization) throw notFound('organization', id);
  return organization;
}

/** Absent fields stay; settings are replaced as a whole. @throws VALIDATION_ERROR */
export async function updateOrganization(
  context: RequestContext,
  input: UpdateOrganization,
): Promise<Organization> {
  const { organizationId: id } = itsmCaller(context);
  const patch = validate(updateSchema, input);
  const organization = await transactional(context, async ({ em }) => {
    const found = await em.findOne(Organization, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!found) throw notFound('organization', id);
    const { name, settings } = found;
    Object.assign(found, patch);
    const before = { name, settings };
    const after = { name: found.name, settings: found.settings };
    if (isDeepStrictEqual(before, after)) return found;
    await em.flush();
    await recordAudit(em, {
      ...auditSource(context),
      action: 'organization.updated',
      resource: { type: 'organization', id },
      before,
      after,
    });
    return found;
  });
  context.loaders.organization.clear(id);
  return organization;
}
