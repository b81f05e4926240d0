import type { MikroORM, PostgreSqlConnection } from '@mikro-orm/postgresql';
import { type CustomTypesConfig, type Pool, types } from 'pg';

/**
 * The pool beneath the ORM, for statements that want a prepared plan or that the unit of work cannot say. It knows no
 * tenancy filter: only for rows whose owner the statement itself settles.
 */
export async function nativePool(orm: Pick<MikroORM, 'em'>): Promise<Pool> {
  return (orm.em.getConnection() as PostgreSqlConnection).getNativeClient();
}

/** Timestamps as Date: the ORM leaves them as text on its pool and hydrates them itself. To be given with each query. */
export const nativeTypes: CustomTypesConfig = types;
