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

/** A stretch of a list that nobody counts. */
export interface Slice<T> {
  data: T[];
  /** Whether more lies in the direction of travel. */
  hasMore: boolean;
}

/** The same for lists of millions, where a count would cost more than the page. @throws VALIDATION_ERROR */
export async function sliceRows<E extends { id: string }>(
  em: EntityManager,
  listing: Listing<E>,
  request: PageRequest,
): Promise<Slice<E>> {
  const mode = pageMode(request);
  if (mode.kind === 'offset') {
    const query = ordered(em, listing, listing.order)
      .limit(mode.limit + 1)
      .offset(mode.offset);
    return firstOf(await readRows(em, query), mode.limit);
  }
  const found = await readRows(em, fromCursor(em, listing, mode, await placeOf(em, listing, mode)));
  const { data, hasMore } = firstOf(found, mode.limit);
  // Found backwards, shown in the order of the list.
  return { data: mode.field === 'ending_before' ? data.reverse() : data, hasMore };
}

function firstOf<T>(found: T[], limit: number): Slice<T> {
  return { data: found.slice(0, limit), hasMore: found.length > limit };
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
  mode: CursorMode,
): Promise<Page<E>> {
  const place = await placeOf<E, WithTotal>(em, listing, mode, await totalOf(em, listing));
  return cursorPage(mode, await readRows(em, fromCursor(em, listing, mode, place)), place.total);
}

type CursorMode = Extract<PageMode, { kind: 'cursor' }>;

/** Where in the order of the list the row of the cursor stands. */
interface Place {
  value: string;
}

async function placeOf<E extends { id: string }, Beside = object>(
  em: EntityManager,
  { prefix, entity, visible, sort }: Listing<E>,
  mode: CursorMode,
  ...beside: RawQueryFragment[]
): Promise<Place & Beside> {
  if (!isId(prefix, mode.cursor)) throw unknownCursor(mode.field);
  const query = em
    .createQueryBuilder(entity, 't')
    .select([raw(`t."${sort.column}"::text as value`), ...beside])
    .where(allOf<E>([{ id: mode.cursor } as ObjectQuery<E>, visible]));
  await query.applyFilters();
  const [place] = (await query.execute('all', false)) as unknown as (Place & Beside)[];
  if (place === undefined) throw unknownCursor(mode.field);
  return place;
}

/** One row more than asked for tells whether there are more. */
function fromCursor<E extends { id: string }>(
  em: EntityManager,
  listing: Listing<E>,
  mode: CursorMode,
  place: Place,
) {
  const forward = mode.field === 'starting_after';
  const direction = forward === (listing.order === 'asc') ? 'asc' : 'desc';
  const comparison = direction === 'asc' ? '>' : '<';
  return ordered(em, listing, direction)
    .andWhere(`(t."${listing.sort.column}", t.id) ${comparison} (?, ?)`, [place.value, mode.cursor])
    .limit(mode.limit + 1);
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
