import type { EntityManager, PostgreSqlConnection } from '@mikro-orm/postgresql';
import { type CustomTypesConfig, type Pool, types } from 'pg';

interface WithConnection {
  readonly em: Pick<EntityManager, 'getConnection'>;
}

/**
 * The pool beneath the ORM, for statements that want a prepared plan or that the unit of work cannot say. It knows no
 * tenancy filter: only for rows whose owner the statement itself settles.
 */
export async function nativePool(orm: WithConnection): Promise<Pool> {
  return (orm.em.getConnection() as PostgreSqlConnection).getNativeClient();
}

/**
 * So many at once. A pool opens a connection when all others are taken, and who asked waits for that one, also when
 * another is free sooner: 10 to 45 ms on a busy machine, where a read takes 2 (bench/runs.ts).
 */
export async function openConnections(orm: WithConnection, count: number): Promise<void> {
  const pool = await nativePool(orm);
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()));
  for (const client of clients) client.release();
}

/** Timestamps as Date: the ORM leaves them as text on its pool and hydrates them itself. To be given with each query. */
export const nativeTypes: CustomTypesConfig = types;
