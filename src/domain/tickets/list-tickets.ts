import type { ObjectQuery } from '@mikro-orm/core';
import { type EntityManager, type QBFilterQuery, type RawQueryFragment, raw } from '@mikro-orm/postgresql';
import { itsmCaller, type RequestContext } from '../../context.js';
import { readRows, readRowsAgain } from '../../database/read-rows.js';
import { isId } from '../../entities/ids.js';
import { Ticket } from '../../entities/tickets/ticket.js';
import {
  cursorPage,
  offsetPage,
  type Page,
  type PageMode,
  type PageRequest,
  pageMode,
  type SortOrder,
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
import { orderOf, type TicketSort, type TicketSortField, ticketSort } from './ticket-sort.js';
import { type TicketView, ticketView } from './ticket-visibility.js';

export interface TicketQuery extends PageRequest {
  filter?: TicketFilter | null | undefined;
  sortBy?: TicketSortField | null | undefined;
  sortOrder?: SortOrder | null | undefined;
}

type CursorMode = Extract<PageMode, { kind: 'cursor' }>;
type OffsetMode = Extract<PageMode, { kind: 'offset' }>;

interface Selection {
  em: EntityManager;
  organizationId: string;
  view: TicketView;
  filter: CheckedTicketFilter;
  sort: TicketSort;
}

interface WithTotal {
  total: number;
}

/**
 * The tickets a caller may see, in one statement by page and in two by cursor. Ties are broken by id in the direction
 * of the sort.
 * @throws VALIDATION_ERROR
 */
export async function listTickets(context: RequestContext, query: TicketQuery): Promise<Page<Ticket>> {
  const mode = pageMode(query);
  const caller = itsmCaller(context);
  const selection: Selection = {
    em: context.em,
    organizationId: caller.organizationId,
    view: ticketView(caller, 'read'),
    filter: validate(ticketFilterSchema, query.filter ?? {}),
    sort: ticketSort(query.sortBy, query.sortOrder),
  };
  return mode.kind === 'cursor' ? pageFromCursor(selection, mode) : pageAtOffset(selection, mode);
}

/** The total comes with each row; only a page behind the last has none, and asks. */
async function pageAtOffset(selection: Selection, mode: OffsetMode): Promise<Page<Ticket>> {
  const { em, view, filter, sort } = selection;
  const key = ['tickets', view.scope, view.userId, filter, sort, mode];
  const rows = (await readRowsAgain(em, key, async () =>
    orderedTickets(selection, sort.order, await totalOf(selection))
      .limit(mode.limit)
      .offset(mode.offset),
  )) as (Ticket & WithTotal)[];
  const [first] = rows;
  if (first) return offsetPage(mode, rows, first.total);
  return offsetPage(mode, [], mode.page === 1 ? 0 : await readTotal(em, await totalOf(selection)));
}

async function pageFromCursor(selection: Selection, mode: CursorMode): Promise<Page<Ticket>> {
  const { value, total } = await findCursor(selection, mode);
  const { expression, order } = selection.sort;
  const forward = mode.field === 'starting_after';
  const direction = forward === (order === 'asc') ? 'asc' : 'desc';
  const comparison = direction === 'asc' ? '>' : '<';
  const query = orderedTickets(selection, direction)
    .andWhere(`(${expression}, t.id) ${comparison} (?, ?)`, [value, mode.cursor])
    .limit(mode.limit + 1);
  return cursorPage(mode, await readRows(selection.em, query), total);
}

/** The filters need not match: a ticket may have changed since the page it stood on was read. */
async function findCursor(selection: Selection, mode: CursorMode): Promise<WithTotal & { value: string }> {
  if (!isId('tkt', mode.cursor)) throw unknownCursor(mode.field);
  const { em, view, sort } = selection;
  const place = em
    .createQueryBuilder(Ticket, 't')
    .select([raw(`(${sort.expression})::text as value`), await totalOf(selection)])
    .where(allOf([{ id: mode.cursor }, view.where]));
  await place.applyFilters();
  const [found] = (await place.execute('all', false)) as unknown as (WithTotal & { value: string })[];
  if (found === undefined) throw unknownCursor(mode.field);
  return found;
}

function orderedTickets(selection: Selection, direction: SortOrder, ...beside: RawQueryFragment[]) {
  const { em, view, filter, sort } = selection;
  return em
    .createQueryBuilder(Ticket, 't')
    .select(['*', ...beside])
    .where(allOf([view.where, ...filterConditions(filter)]))
    .orderBy(orderOf(sort, direction));
}

async function readTotal(em: EntityManager, total: RawQueryFragment): Promise<number> {
  const [row] = await em.execute<WithTotal[]>(`select ${total.sql}`, total.params);
  return row?.total ?? 0;
}

/** Whole tenants and their statuses are counted already; everything else is one COUNT(*). */
async function totalOf({ em, organizationId, view, filter }: Selection): Promise<RawQueryFragment> {
  if (view.scope === 'all' && namedFilters(filter).every((name) => name === 'status'))
    return keptTotal(organizationId, filter.status ?? []);
  const count = em
    .createQueryBuilder(Ticket, 'c')
    .select(raw('count(*)::int'))
    .where(allOf([view.where, ...filterConditions(filter)]));
  await count.applyFilters();
  const { sql, params } = count.toRaw();
  return raw(`(${sql}) as total`, params);
}

function keptTotal(organizationId: string, statuses: readonly string[]): RawQueryFragment {
  const sum = 'select coalesce(sum(k.total), 0)::int from ticket_total k where k.organization_id = ?';
  if (statuses.length === 0) return raw(`(${sum}) as total`, [organizationId]);
  const marks = statuses.map(() => '?').join(', ');
  return raw(`(${sum} and k.status in (${marks})) as total`, [organizationId, ...statuses]);
}

/** The query builder's own type of conditions leaves out the operators that it takes all the same. */
function allOf(conditions: ObjectQuery<Ticket>[]): QBFilterQuery<Ticket> {
  const saying = conditions.filter((condition) => Reflect.ownKeys(condition).length > 0);
  const [only] = saying;
  return (saying.length > 1 ? { $and: saying } : (only ?? {})) as QBFilterQuery<Ticket>;
}
