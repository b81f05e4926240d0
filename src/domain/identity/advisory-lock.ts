import type { EntityManager } from '@mikro-orm/postgresql';

/** Until the transaction ends nobody else on this database holds a lock of the same name. */
export async function holdLock(em: EntityManager, name: string): Promise<void> {
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`opsgraph ${name}`]);
}
