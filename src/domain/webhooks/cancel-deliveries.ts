import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';

/** Rows ended in the statement of the change itself; whatever is beyond is ended by the workers, in such steps too. */
const CANCELLED_AT_ONCE = 5_000;

const CANCEL = `
update webhook_delivery set status = 'failed', failed_at = ?, due_at = null
where id in (
  select id from webhook_delivery
  where webhook_id = ? and status = 'pending' and lease_owner is null
  limit ${CANCELLED_AT_ONCE} for update skip locked
)`;

/**
 * In the transaction that deletes or deactivates the webhook. No attempt begins after its commit, however many
 * deliveries wait: an attempt needs a webhook that is there and active (claim-deliveries.ts). One under way ends.
 */
export async function cancelDeliveries(em: EntityManager, webhookId: string, now: Date): Promise<void> {
  await em.execute(CANCEL, [now, webhookId]);
}

const CANCEL_LEFT_OVER = `
update webhook_delivery set status = 'failed', failed_at = $1, due_at = null
where id in (
  select delivery.id from webhook_delivery delivery
  where delivery.webhook_id = any($2) and delivery.status = 'pending' and delivery.lease_owner is null
    and not exists (select from webhook where webhook.id = delivery.webhook_id and webhook.active)
  limit ${CANCELLED_AT_ONCE} for update skip locked
)`;

/** Of those webhooks that are gone or inactive. Returns how many were ended. */
export async function cancelLeftOver(pool: Pool, webhookIds: readonly string[], now: Date): Promise<number> {
  const query = { name: 'webhook-cancel', text: CANCEL_LEFT_OVER, values: [now, webhookIds] };
  return (await pool.query(query)).rowCount ?? 0;
}
