import type { Services } from '../../context.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';

const DAY_MS = 24 * 3_600_000;

/** How many deliveries went that ended and are past their time. One that waits stays, however old it is. */
export function sweepDeliveries(
  { orm, now, config }: Pick<Services, 'orm' | 'now' | 'config'>,
  signal: AbortSignal,
): Promise<number> {
  const condition = `created_at <= ? and status <> 'pending'`;
  const parameters = [new Date(now().getTime() - config.webhookDeliveryRetentionDays * DAY_MS)];
  return deleteInBatches(orm.em.fork(), { table: 'webhook_delivery', condition, parameters }, signal);
}
