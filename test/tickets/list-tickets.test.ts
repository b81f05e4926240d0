import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sortOrders } from '../../src/domain/page.js';
import { ticketSortFields } from '../../src/domain/tickets/index.js';
import { TicketPriority, TicketStatus, TicketType } from '../../src/entities/tickets/ticket-enums.js';
import {
  COUNT,
  everyOrder,
  idsOf,
  openTicketList,
  type Query,
  type Row,
  type TicketList,
} from './ticket-list.js';
import type { TicketServer } from './ticket-server.js';

let server: TicketServer;
let list: TicketList['list'];
let expected: TicketList['expected'];
let rows: Row[];

beforeAll(async () => {
  ({ server, rows, list, expected } = await openTicketList());
});
afterAll(() => server?.close());

describe('GET /v1/tickets by page', () => {
  it('answers the newest 25 and where they stand', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(idsOf(body.data)).toEqual(expected('createdAt', 'desc').slice(0, 25));
    expect({ ...body, data: undefined }).toEqual({
      meta: { pagination: { page: 1, limit: 25, total: COUNT, totalPages: 16, hasMore: true } },
    });
  });

  it.each(everyOrder)('sorts by %s %s, ties by id, nothing last', async (sortBy, sortOrder) => {
    const found: string[] = [];
    for (let page = 1; page <= 4; page += 1) {
      const { body } = await list({ sortBy, sortOrder, page, limit: 130 });
      found.push(...idsOf(body.data));
      expect(body.meta.pagination).toEqual({
        page,
        limit: 130,
        total: COUNT,
        totalPages: 4,
        hasMore: page < 4,
      });
    }
    expect(found).toEqual(expected(sortBy, sortOrder));
  });

  it('answers an empty page behind the last', async () => {
    const { body } = await list({ page: 17 });
    expect(body).toEqual({
      data: [],
      meta: { pagination: { page: 17, limit: 25, total: COUNT, totalPages: 16, hasMore: false } },
    });
  });
});

describe('GET /v1/tickets by cursor', () => {
  it.each(everyOrder)(
    'goes through %s %s there and back without gap or duplicate',
    async (sortBy, sortOrder) => {
      const all = expected(sortBy, sortOrder);
      const there = idsOf((await list({ sortBy, sortOrder, limit: 90 })).body.data);
      for (let more = true; more; ) {
        const { body } = await list({ sortBy, sortOrder, limit: 90, starting_after: there.at(-1) ?? '' });
        there.push(...idsOf(body.data));
        more = body.hasMore;
        expect(body.cursor).toBe(there.at(-1));
        expect(body.meta.pagination).toEqual({
          page: null,
          limit: 90,
          total: COUNT,
          totalPages: 5,
          hasMore: more,
        });
      }
      expect(there).toEqual(all);
      const back = [all.at(-1) ?? ''];
      for (let more = true; more; ) {
        const { body } = await list({ sortBy, sortOrder, limit: 90, ending_before: back[0] ?? '' });
        back.unshift(...idsOf(body.data));
        more = body.hasMore;
        expect(body.cursor).toBe(back[0]);
      }
      expect(back).toEqual(all);
    },
  );

  it('answers no cursor when nothing is left', async () => {
    const last = expected('createdAt', 'desc').at(-1) ?? '';
    const { body } = await list({ starting_after: last });
    expect(body).toEqual({
      data: [],
      meta: { pagination: { page: null, limit: 25, total: COUNT, totalPages: 16, hasMore: false } },
      hasMore: false,
    });
  });

  it('keeps the place of a ticket that no longer matches the filter', async () => {
    const open = rows.filter(({ status }) => status === 'open');
    const other = expected('createdAt', 'desc').find((id) => !idsOf(open).includes(id)) ?? '';
    const { body } = await list({ status: 'open', starting_after: other, limit: 1000 });
    const all = expected('createdAt', 'desc');
    const behind = all.slice(all.indexOf(other) + 1).filter((id) => idsOf(open).includes(id));
    expect(idsOf(body.data)).toEqual(behind);
    expect(body.meta.pagination.total).toBe(open.length);
  });

  it('does not know a cursor that is the id of nothing here', async () => {
    const foreign = (await list({}, 'manager@globex')).body.data[0].id;
    const unseen = rows.find(({ requesterId }) => requesterId !== server.tenants.acme.userIds.user)?.id ?? '';
    for (const [cursor, who] of [
      [foreign, 'manager@acme'],
      ['tkt_00000000000000000000000000', 'manager@acme'],
      ['nonsense\0', 'manager@acme'],
      ['', 'manager@acme'],
      [unseen, 'user@acme'],
    ] as const) {
      for (const field of ['starting_after', 'ending_before']) {
        const { status, body } = await list({ [field]: cursor }, who);
        expect({ cursor, status, details: body.error?.details }).toEqual({
          cursor,
          status: 400,
          details: { field, constraint: 'exists' },
        });
      }
    }
  });
});

describe('GET /v1/tickets refuses', () => {
  it.each<[Query, string, string]>([
    [{ starting_after: 'a', ending_before: 'b' }, 'ending_before', 'mutuallyExclusive'],
    [{ page: 1, starting_after: 'a' }, 'page', 'mutuallyExclusive'],
    [{ page: 2, ending_before: 'a' }, 'page', 'mutuallyExclusive'],
    [{ page: 0 }, 'page', 'min'],
    [{ page: 'x' }, 'page', 'isInt'],
    [{ limit: 0 }, 'limit', 'min'],
    [{ limit: 1001 }, 'limit', 'max'],
    [{ limit: '1.5' }, 'limit', 'isInt'],
    [{ sortBy: 'requesterId' }, 'sortBy', 'isIn'],
    [{ sortOrder: 'up' }, 'sortOrder', 'isIn'],
    [{ status: 'open,lost' }, 'status', 'isIn'],
    [{ createdAfter: 'yesterday' }, 'createdAfter', 'isDateTime'],
    [{ q: 'x'.repeat(501) }, 'q', 'maxLength'],
    [{ q: 'a\0b' }, 'q', 'isString'],
    [{ requesterId: 'a\0b' }, 'requesterId.0', 'isString'],
  ])('%j', async (query, field, constraint) => {
    const { status, body } = await list(query);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: { field, constraint } });
  });
});

describe('GET /v1/tickets takes every value the graph has for', () => {
  it.each([
    ['status', Object.values(TicketStatus)],
    ['priority', Object.values(TicketPriority)],
    ['type', Object.values(TicketType)],
    ['sortBy', ticketSortFields],
    ['sortOrder', sortOrders],
  ])('%s', async (field, values) => {
    for (const value of values) {
      const { status } = await list({ [field]: value, limit: 1 });
      expect({ value, status }).toEqual({ value, status: 200 });
    }
  });
});

describe('a filter', () => {
  const moment = '2026-04-30T21:00:00.000Z';
  const acme = () => server.tenants.acme;
  it.each<[string, () => Query, (row: Row) => boolean]>([
    ['one status', () => ({ status: 'open' }), (row) => row.status === 'open'],
    ['statuses with a comma', () => ({ status: 'open,closed' }), (row) => /^(open|closed)$/.test(row.status)],
    [
      'statuses repeated',
      () => ({ status: ['new', 'pending'] }),
      (row) => /^(new|pending)$/.test(row.status),
    ],
    ['priorities', () => ({ priority: 'high,low' }), (row) => /^(high|low)$/.test(row.priority)],
    ['a type', () => ({ type: 'task' }), (row) => row.type === 'task'],
    [
      'an assignee',
      () => ({ assigneeId: acme().userIds.agent }),
      (row) => row.assigneeId === acme().userIds.agent,
    ],
    ['a team', () => ({ teamId: acme().teamId }), (row) => row.teamId === acme().teamId],
    [
      'a requester',
      () => ({ requesterId: acme().userIds.user }),
      (row) => row.requesterId === acme().userIds.user,
    ],
    ['a category', () => ({ category: 'vpn,mail' }), (row) => /^(vpn|mail)$/.test(row.category)],
    [
      'tags',
      () => ({ tag: ['site-3', 'badge'] }),
      (row) => row.tags.some((tag) => /^(site-3|badge)$/.test(tag)),
    ],
    ['words of the title', () => ({ q: 'PRINTER' }), (row) => row.title.includes('printer')],
    [
      'a phrase and a word to leave out',
      () => ({ q: '"did not help" -vpn' }),
      (row) => !row.title.includes('vpn'),
    ],
    ['words nobody wrote', () => ({ q: 'unicorn' }), () => false],
    ['createdAfter', () => ({ createdAfter: moment }), (row) => row.createdAt > moment],
    ['createdBefore', () => ({ createdBefore: moment }), (row) => row.createdAt < moment],
    [
      'updatedAfter with an offset',
      () => ({ updatedAfter: '2026-04-30T23:00:00+02:00' }),
      (row) => row.updatedAt > moment,
    ],
    [
      'all of several filters',
      () => ({ status: 'open,new,closed', priority: 'high,low', q: 'restart' }),
      (row) => /^(open|new|closed)$/.test(row.status) && /^(high|low)$/.test(row.priority),
    ],
    ['an empty value', () => ({ status: '', q: '', tag: ',' }), () => true],
    [
      'another organization’s people',
      () => ({ requesterId: server.tenants.globex.userIds.user }),
      () => false,
    ],
  ])('by %s', async (_what, query, matches) => {
    const matching = rows.filter(matches);
    const { status, body } = await list({ ...query(), limit: 1000 });
    expect(status).toBe(200);
    expect(idsOf(body.data)).toEqual(expected('createdAt', 'desc', matching));
    expect(body.meta.pagination.total).toBe(matching.length);
  });
});
