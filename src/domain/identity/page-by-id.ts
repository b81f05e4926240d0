import type { EntityName, FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type IdPrefix, isId } from '../../entities/ids.js';
import { cursorPage, offsetPage, type Page, type PageRequest, pageMode, unknownCursor } from '../page.js';

export interface IdPageRequest extends PageRequest {
  /** By the time of making, which is the order of ids. */
  sortOrder?: 'asc' | 'desc' | null | undefined;
}

/** A page of a list in the order in which its rows were made. The cursor of a deleted row still works: ids are times. */
export async function pageById<T extends { id: string }>(
  em: EntityManager,
  { entity, prefix, where }: { entity: EntityName<T>; prefix: IdPrefix; where: FilterQuery<T>[] },
  request: IdPageRequest,
): Promise<Page<T>> {
  const mode = pageMode(request);
  const order = request.sortOrder ?? 'desc';
  const reader = em.fork();
  const find = (
    conditions: unknown[],
    direction: 'asc' | 'desc',
    bounds: { limit: number; offset?: number },
  ) =>
    reader.find(entity, { $and: conditions } as FilterQuery<T>, {
      ...bounds,
      orderBy: { id: direction } as never,
      disableIdentityMap: true,
    }) as unknown as Promise<T[]>;
  if (mode.kind === 'cursor' && !isId(prefix, mode.cursor)) throw unknownCursor(mode.field);
  const total = await reader.count(entity, { $and: where } as FilterQuery<T>);
  if (mode.kind === 'offset')
    return offsetPage(mode, await find(where, order, { limit: mode.limit, offset: mode.offset }), total);
  const forward = mode.field === 'starting_after';
  const direction = forward === (order === 'asc') ? 'asc' : 'desc';
  const beyond = { id: { [direction === 'asc' ? '$gt' : '$lt']: mode.cursor } };
  return cursorPage(mode, await find([...where, beyond], direction, { limit: mode.limit + 1 }), total);
}
