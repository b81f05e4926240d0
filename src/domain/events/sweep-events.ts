import type { Services } from '../../context.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import { EVENTS_KEPT_MS } from './readable-events.js';

/** How many events went that nobody can read any more. One without a number was seen by nobody yet and stays. */
export function sweepEvents(
  { orm, now }: Pick<Services, 'orm' | 'now'>,
  signal: AbortSignal,
): Promise<number> {
  const condition = 'timestamp <= ? and seq is not null';
  const parameters = [new Date(now().getTime() - EVENTS_KEPT_MS)];
  return deleteInBatches(orm.em.fork(), { table: 'event', condition, parameters }, signal);
}
