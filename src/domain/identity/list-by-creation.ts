import type { ObjectQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Listing, listRows } from '../list-rows.js';
import type { Page, PageRequest, SortOrder } from '../page.js';

export interface CreationListQuery extends PageRequest {
  sortOrder?: SortOrder | null | undefined;
}

/** A page of a list that is sorted by the time of making alone. @throws VALIDATION_ERROR */
export function listByCreation<E extends { id: string; createdAt: Date }>(
  em: EntityManager,
  { entity, prefix, visible }: Pick<Listing<E>, 'entity' | 'prefix'> & { visible: ObjectQuery<E> },
  query: CreationListQuery,
): Promise<Page<E>> {
  const sort = { property: 'createdAt', column: 'created_at' } as const;
  return listRows(
    em,
    { entity, prefix, visible, filters: [], sort, order: query.sortOrder ?? 'desc' },
    query,
  );
}
