import type { EntityClass } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

type Insert = readonly [EntityClass<object>, readonly object[]];

/**
 * Inserts rows of several tables with one message and without making entities, for what is written often. In this order:
 * rows that another lets in (src/entities/row-security.ts) find it there.
 */
export async function insertRows(em: EntityManager, ...inserts: readonly Insert[]): Promise<void> {
  const statements = inserts.map(([entity, rows]) =>
    em
      .createQueryBuilder(entity)
      .insert(rows.map((row) => ({ ...row })))
      .getFormattedQuery(),
  );
  await em.execute(statements.join(';\n'));
}
