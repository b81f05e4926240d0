import type { EntityName, ObjectQuery } from '@mikro-orm/core';
import {
  type EntityManager,
  type QBFilterQuery,
  type QueryOrderMap,
  type RawQueryFragment,
  raw,
} from '@mikro-orm/postgresql';
import { readRows } from '../database/read-rows.js';
import { type IdPrefix, isId } from '../entities/ids.js';
import {
  cursorPage,
  offsetPage,
  type Page,
  type PageMode,
  type PageRequest,
  pageMode,
  type SortOrder,
  unknownCursor,
} from './page.js';

export interface Listing<E extends { id: string }> {
  entity: EntityName<E>;
  prefix: IdPrefix;
  /** What the caller may see. */
  visible: ObjectQuery<E>;
  /** What the caller asks for. */
  filters: ObjectQuery<E>[];
  /** A property that is never null, and its column. */
  sort: { property: keyof E & string; column: string };
  order: SortOrder;
}

interface WithTotal {
  total: number;
}

/**
 * A page of a list of hundreds: in one statement by page and in two by cursor, with a count each. Ties are broken by id
 * in the direction of the sort. Tickets, of which there are millions, have their own (tickets/list-tickets.ts).
 * @throws VALIDATION_ERROR
 */
export async function listRows<E extends { id: string }>(
  em: EntityManager,
  listing: Listing<E>,
  request: PageRequest,
): Promise<Page<E>> {
  const mode = pageMode(request);
  return mode.kind === 'cursor' ? pageFromCursor(em, listing, mode) : pageAtOffset(em, listing, mode);
}

async function pageAtOffset<E extends { id: string }>(
  em: EntityManager,
  listing: Listing<E>,
  mode: Extract<PageMode, { kind: 'offset' }>,
): Promise<Page<E>> {
  const total = await totalOf(em, listing);
  const query = ordered(em, listing, listing.order, total).limit(mode.limit).offset(mode.offset);
  const rows = (await readRows(em, query)) as (E & WithTotal)[];
  const [first] = rows;
  if (first) return offsetPage(mode, rows, first.total);
  if (mode.page === 1) return offsetPage(mode, [], 0);
  const [row] = await em.execute<WithTotal[]>(`select ${total.sql}`, total.params);
  return offsetPage(mode, [], row?.total ?? 0);
}

async function pageFromCursor<E extends { id: string }>(
  em: EntityManager,
  listing: Listing<E>,
  mode: Extract<PageMode, { kind: 'cursor' }>,
): Promise<Page<E>> {
  const { prefix, entity, visible, sort, order } = listing;
  if (!isId(prefix, mode.cursor)) throw unknownCursor(mode.field);
  const place = em
    .createQueryBuilder(entity, 't')
    .select([raw(`t."${sort.column}"::text as value`), await totalOf(em, listing)])
    .where(allOf<E>([{ id: mode.cursor } as ObjectQuery<E>, visible]));
  await place.applyFilters();
  const [found] = (await place.execute('all', false)) as unknown as (WithTotal & { value: string })[];
  if (found === undefined) throw unknownCursor(mode.field);
  const forward = mode.field === 'starting_after';
  const direction = forward === (order === 'asc') ? 'asc' : 'desc';
  const comparison = direction === 'asc' ? '>' : '<';
  const query = ordered(em, listing, direction)
    .andWhere(`(t."${sort.column}", t.id) ${comparison} (?, ?)`, [found.value, mode.cursor])
    .limit(mode.limit + 1);
  return cursorPage(mode, await readRows(em, query), found.total);
}

function ordered<E extends { id: string }>(
  em: EntityManager,
  { entity, visible, filters, sort }: Listing<E>,
  direction: SortOrder,
  ...beside: RawQueryFragment[]
) {
  const order = [{ [sort.property]: direction }, { id: direction }] as QueryOrderMap<E>[];
  return em
    .createQueryBuilder(entity, 't')
    .select(['*', ...beside])
    .where(allOf([visible, ...filters]))
    .orderBy(order);
}

async function totalOf<E extends { id: string }>(
  em: EntityManager,
  { entity, visible, filters }: Listing<E>,
): Promise<RawQueryFragment> {
  const count = em
    .createQueryBuilder(entity, 'c')
    .select(raw('count(*)::int'))
    .where(allOf([visible, ...filters]));
  await count.applyFilters();
  const { sql, params } = count.toRaw();
  return raw(`(${sql}) as total`, params);
}

/** The query builder's own type of conditions leaves out the operators that it takes all the same. */
function allOf<E extends object>(conditions: ObjectQuery<E>[]): QBFilterQuery<E> {
  const saying = conditions.filter((condition) => Reflect.ownKeys(condition).length > 0);
  const [only] = saying;
  return (saying.length > 1 ? { $and: saying } : (only ?? {})) as QBFilterQuery<E>;
}
