import type { EntityManager } from '@mikro-orm/postgresql';

/** Rows deleted by one statement: short enough never to be felt by anybody who waits for one of them. */
const BATCH = 1_000;

/**
 * How many rows went.
 * @param table trusted text, as `condition` is; its parameters are not
 */
export async function deleteInBatches(
  em: EntityManager,
  { table, condition, parameters }: { table: string; condition: string; parameters: unknown[] },
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  let deleted = BATCH;
  while (deleted === BATCH && !signal.aborted) {
    const { affectedRows } = await em.execute<{ affectedRows: number }>(
      `delete from "${table}" where ctid = any (array(select ctid from "${table}" where ${condition} limit ${BATCH}))`,
      parameters,
      'run',
    );
    deleted = affectedRows;
    total += deleted;
  }
  return total;
}
