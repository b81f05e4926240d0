import type { EntityClass, FilterOptions } from '@mikro-orm/core';
import type { EntityManager, QBFilterQuery } from '@mikro-orm/postgresql';
import { escapeLiteral } from 'pg';
import { nativePool } from './native-pool.js';
import { allInOneMessage } from './one-message.js';
import { type RememberedStatement, rememberStatement } from './read-rows.js';

/** Rows of an entity by what one of its columns holds, as `readRows` would read them. */
export interface KeyedRows<Entity extends object> {
  readonly entity: EntityClass<Entity>;
  readonly key: keyof Entity & string;
  readonly orderBy?: keyof Entity & string;
  readonly filters?: FilterOptions;
}

/** The columns of all rows whose key is one of some values. A page of 1,000 tickets has fewer users than PostgreSQL can take. */
export async function readByKey<Entity extends object>(
  em: EntityManager,
  rows: KeyedRows<Entity>,
  values: readonly string[],
): Promise<Entity[]> {
  if (values.length === 0) return [];
  const statement = await statementOf(em, rows);
  return statement.toRows(await em.execute(withValues(statement, values))) as Entity[];
}

/** What two entities have for one value, in one round trip. Not for a transaction, whose connection is its own. */
export async function readBoth<First extends object, Second extends object>(
  em: EntityManager,
  first: KeyedRows<First>,
  second: KeyedRows<Second>,
  value: string,
): Promise<[First[], Second[]]> {
  const one = await statementOf(em, first);
  const other = await statementOf(em, second);
  const pool = await nativePool({ em });
  const variables = em.getSessionContext()?.variables ?? {};
  const messages = [one, other].map((statement) => withValues(statement, [value]));
  const [ones, others] = await allInOneMessage(pool, variables, messages);
  return [one.toRows(ones?.rows ?? []) as First[], other.toRows(others?.rows ?? []) as Second[]];
}

/** Stands in the remembered text where the values go; no tenant's id and no value looks like it. */
const PLACE = '00000000-0000-4000-8000-76616c756573';

function statementOf<Entity extends object>(
  em: EntityManager,
  { entity, key, orderBy, filters }: KeyedRows<Entity>,
): Promise<RememberedStatement> {
  const build = () => {
    const where = { [key]: { $in: [PLACE] } } as QBFilterQuery<Entity>;
    const query = em.createQueryBuilder(entity).select('*').where(where);
    return orderBy === undefined ? query : query.orderBy({ [orderBy]: 'asc' });
  };
  return rememberStatement(em, [entity.name, key, orderBy, filters], build, filters);
}

function withValues({ sql }: RememberedStatement, values: readonly string[]): string {
  return sql.replace(escapeLiteral(PLACE), () => values.map(escapeLiteral).join(', '));
}
