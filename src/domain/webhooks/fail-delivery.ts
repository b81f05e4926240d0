import type { Services } from '../../context.js';
import { transactional } from '../../events/transaction.js';
import { countFailure } from './count-failure.js';
import type { Settlement } from './settle-deliveries.js';
import { deliveriesTopic } from './topics.js';

const FAIL = `
update webhook_delivery set status = 'failed', failed_at = ?, due_at = null, lease_owner = null, lease_until = null,
  response_code = ?, response_time_ms = ?, attempts = attempts || ?::jsonb
where id = ? and lease_owner = ? and attempt = ?
returning id`;

/** The last attempt failed: the delivery and its webhook's count of failures change together, or not at all. */
export async function failDelivery(
  services: Services,
  owner: string,
  { id, webhookId, attempt, record, endedAt }: Settlement,
): Promise<void> {
  const { orm, log } = services;
  await transactional({ em: orm.em.fork(), log, services }, async (unit) => {
    const failed = await unit.em.execute<{ id: string }[]>(FAIL, [
      endedAt,
      record?.responseCode ?? null,
      record?.responseTimeMs ?? null,
      JSON.stringify(record ? [record] : []),
      id,
      owner,
      attempt,
    ]);
    if (failed.length === 0) return;
    await countFailure(unit, services, webhookId);
    unit.wakeAfterCommit(deliveriesTopic(webhookId));
  });
}
