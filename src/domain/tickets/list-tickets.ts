import type { ObjectQuery } from '@mikro-orm/core';
import { type EntityManager, type QBFilterQuery, type RawQueryFragment, raw } from '@mikro-orm/postgresql';
import { itsmCaller, type RequestContext } from '../../context.js';
import { readRows } from '../../database/read-rows.js';
import { isId } from '../../entities/ids.js';
import { Ticket } from '../../entities/tickets/ticket.js';
import { TicketTotal } from '../../entities/tickets/ticket-total.js';
import {
  cursorPage,
  offsetPage,
  type Page,
  type PageMode,
  type PageRequest,
  pageMode,
  unknownCursor,
} from '../page.js';
import { validate } from '../validate.js';
import {
  type CheckedTicketFilter,
  filterConditions,
  namedFilters,
  type TicketFilter,
  ticketFilterSchema,
} from './ticket-filter.js';
import { type SortOrder, type TicketSort, type TicketSortField, ticketSort } from './ticket-sort.js';
import { type TicketView, ticketView } from './ticket-visibility.js';

export interface TicketQuery extends PageRequest {
  filter?: TicketFilter | null | undefined;
  sortBy?: TicketSortField | null | undefined;
  sortOrder?: SortOrder | null | undefined;
}

type CursorMode = Extract<PageMode, { kind: 'cursor' }>;

interface Selection {
  em: EntityManager;
  view: TicketView;
  filter: CheckedTicketFilter;
  sort: TicketSort;
}

/** What the total costs is known by then, and it is read in one go with the place of the cursor. */
interface CursorPlace {
  value: string;
  total: number;
}

/**
 * The tickets a caller may see, in two statements. Ties are broken by id in the direction of the sort.
 * @throws VALIDATION_ERROR
 */
export async function listTickets(context: RequestContext, query: TicketQuery): Promise<Page<Ticket>> {
  const mode = pageMode(query);
  const selection: Selection = {
    em: context.em,
    view: ticketView(itsmCaller(context), 'read'),
    filter: validate(ticketFilterSchema, query.filter ?? {}),
    sort: ticketSort(query.sortBy, query.sortOrder),
  };
  if (mode.kind === 'cursor') return pageFromCursor(selection, mode);
  const rows = orderedTickets(selection, selection.sort.order).limit(mode.limit).offset(mode.offset);
  const [data, total] = await Promise.all([readRows(context.em, rows), readTotal(selection)]);
  return offsetPage(mode, data, total);
}

async function pageFromCursor(selection: Selection, mode: CursorMode): Promise<Page<Ticket>> {
  const { value, total } = await findCursor(selection, mode);
  const { expression, order } = selection.sort;
  const forward = mode.field === 'starting_after';
  const direction = forward === (order === 'asc') ? 'asc' : 'desc';
  const comparison = direction === 'asc' ? '>' : '<';
  const rows = orderedTickets(selection, direction)
    .andWhere(`(${expression}, t.id) ${comparison} (?, ?)`, [value, mode.cursor])
    .limit(mode.limit + 1);
  return cursorPage(mode, await readRows(selection.em, rows), total);
}

/** The filters need not match: a ticket may have changed since the page it stood on was read. */
async function findCursor(selection: Selection, mode: CursorMode): Promise<CursorPlace> {
  if (!isId('tkt', mode.cursor)) throw unknownCursor(mode.field);
  const { em, view, sort } = selection;
  const total = await totalQuery(selection);
  const place = em
    .createQueryBuilder(Ticket, 't')
    .select([raw(`(${sort.expression})::text as value`), raw(`(${total.sql}) as total`, total.params)])
    .where(allOf([{ id: mode.cursor }, view.where]));
  await place.applyFilters();
  const [found] = (await place.execute('all', false)) as unknown as CursorPlace[];
  if (found === undefined) throw unknownCursor(mode.field);
  return found;
}

function orderedTickets({ em, view, filter, sort }: Selection, direction: SortOrder) {
  const { expression } = sort;
  return em
    .createQueryBuilder(Ticket, 't')
    .select('*')
    .where(allOf([view.where, ...filterConditions(filter)]))
    .orderBy([{ [raw(expression)]: direction }, { id: direction }]);
}

async function readTotal(selection: Selection): Promise<number> {
  const [row] = await selection.em.execute<{ total: number }[]>(await totalQuery(selection));
  return row?.total ?? 0;
}

/** Whole tenants and their statuses are counted already; everything else is one COUNT(*). */
async function totalQuery({ em, view, filter }: Selection): Promise<RawQueryFragment> {
  const where = allOf([view.where, ...filterConditions(filter)]);
  if (view.scope === 'all' && namedFilters(filter).every((name) => name === 'status')) {
    const sum = em
      .createQueryBuilder(TicketTotal, 'n')
      .select(raw('coalesce(sum(n.total), 0)::int as total'))
      .where(where as QBFilterQuery<TicketTotal>);
    await sum.applyFilters();
    return sum.toRaw();
  }
  const count = em.createQueryBuilder(Ticket, 'c').select(raw('count(*)::int as total')).where(where);
  await count.applyFilters();
  return count.toRaw();
}

/** The query builder's own type of conditions leaves out the operators that it takes all the same. */
function allOf(conditions: ObjectQuery<Ticket>[]): QBFilterQuery<Ticket> {
  return { $and: conditions } as QBFilterQuery<Ticket>;
}
