import type { Services } from '../../context.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import { ANSWER_TTL_MS } from './answer-ttl.js';

/** How many answers went that stand for nothing any more. */
export function sweepAnswers(
  { orm, now }: Pick<Services, 'orm' | 'now'>,
  signal: AbortSignal,
): Promise<number> {
  const parameters = [new Date(now().getTime() - ANSWER_TTL_MS)];
  return deleteInBatches(
    orm.em.fork(),
    { table: 'idempotent_answer', condition: 'created_at <= ?', parameters },
    signal,
  );
}
