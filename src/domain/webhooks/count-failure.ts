import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../context.js';
import type { Unit } from '../../events/transaction.js';
import { recordAudit } from '../audit/index.js';
import { queueMail } from '../mail/index.js';
import { cancelDeliveries } from './cancel-deliveries.js';

/** One more failed delivery in a row disables (ITSM document, Limits: more than 10). */
export const TOLERATED_FAILURES = 10;
const REASON = `More than ${TOLERATED_FAILURES} deliveries in a row failed`;
const MAX_ADMINS = 100;

const COUNT = `
update webhook set consecutive_failures = consecutive_failures + 1 where id = ?
returning id, organization_id as "organizationId", url, name, active, consecutive_failures as failures`;

interface Counted {
  id: string;
  organizationId: string;
  url: string;
  name: string | null;
  active: boolean;
  failures: number;
}

const DISABLE = `
update webhook set active = false, disabled_reason = ?, disabled_at = ?, updated_at = ? where id = ?`;

const ADMINS = `
select email from "user" where organization_id = ? and role = 'tenant_admin' and active
order by id limit ${MAX_ADMINS}`;

/**
 * In the transaction in which a delivery fails for good. The row of the webhook is locked from the count on, so that
 * exactly one failure disables, and each administrator gets one mail about it.
 */
export async function countFailure(unit: Unit, services: Services, webhookId: string): Promise<void> {
  const { em } = unit;
  const [webhook] = await em.execute<Counted[]>(COUNT, [webhookId]);
  if (!webhook?.active || webhook.failures <= TOLERATED_FAILURES) return;
  const now = services.now();
  await em.execute(DISABLE, [REASON, now, now, webhookId]);
  await cancelDeliveries(em, webhookId, now);
  for (const to of await adminsOf(em, webhook.organizationId))
    queueMail(unit, services, 'notice', { to, ...disabledNotice(webhook) });
  await em.flush();
  services.log.warn({ webhookId, failures: webhook.failures }, 'webhook disabled');
  await recordAudit(em, {
    organizationId: webhook.organizationId,
    actor: { type: 'system', id: null },
    action: 'webhook.disabled',
    resource: { type: 'webhook', id: webhookId },
    before: { active: true },
    after: { active: false, reason: REASON },
  });
}

async function adminsOf(em: EntityManager, organizationId: string): Promise<string[]> {
  const rows = await em.execute<{ email: string }[]>(ADMINS, [organizationId]);
  return rows.map(({ email }) => email);
}

function disabledNotice({ id, url, name, failures }: Counted) {
  return {
    subject: `Webhook disabled: ${name ?? id}`,
    text: [
      `The webhook ${name ?? id} (${id}) was disabled: ${failures} deliveries in a row failed.`,
      `Its address is ${new URL(url).origin}.`,
      'It receives no events until somebody sets it active again. What failed can be delivered again from its log.',
      '',
    ].join('\n\n'),
  };
}
