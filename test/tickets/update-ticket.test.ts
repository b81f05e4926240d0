import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTicketServer, type TicketServer, type Who } from './ticket-server.js';

let server: TicketServer;

beforeAll(async () => {
  server = await startTicketServer();
});
afterAll(() => server.close());

async function file(fields: object = {}, who: Who = 'manager@acme') {
  const { status, body } = await server.rest(who, 'POST', '/v1/tickets', { title: 'printer', ...fields });
  expect(status).toBe(201);
  return body;
}

function patch(id: string, body: unknown, who: Who = 'manager@acme') {
  return server.rest(who, 'PATCH', `/v1/tickets/${id}`, body);
}

/** Puts a ticket into a state without asking the table of moves. */
async function inStatus(status: string) {
  const ticket = await file();
  const holdReason = status === 'on_hold' ? 'awaiting_vendor' : null;
  await server.database.orm.em
    .fork()
    .execute('update ticket set status = ?, hold_reason = ? where id = ?', [status, holdReason, ticket.id]);
  return ticket;
}

async function told(ticketId: string, after: number) {
  const events = await server.eventsOf(ticketId);
  return events.slice(after).map(({ type, payload }) => ({ type, payload }));
}

const statuses = ['new', 'open', 'in_progress', 'pending', 'on_hold', 'resolved', 'closed', 'cancelled'];
/** The completion page, Tickets, written down a second time. */
const moves = new Set(
  [
    'new>open new>in_progress new>cancelled',
    'open>in_progress open>pending open>on_hold open>resolved open>cancelled',
    'in_progress>open in_progress>pending in_progress>on_hold in_progress>resolved in_progress>cancelled',
    'pending>open pending>in_progress pending>resolved pending>cancelled',
    'on_hold>open on_hold>in_progress on_hold>resolved on_hold>cancelled',
    'resolved>in_progress resolved>closed',
  ].flatMap((line) => line.split(' ')),
);

describe('a status move by PATCH /v1/tickets/:id', () => {
  it.each(statuses)('goes from %s where the table says, and nowhere else', async (from) => {
    const allowed = statuses.filter((to) => moves.has(`${from}>${to}`));
    for (const to of statuses.filter((status) => status !== from)) {
      const { id } = await inStatus(from);
      const holdReason = to === 'on_hold' ? { holdReason: 'awaiting_change' } : {};
      const { status, body } = await patch(id, { status: to, ...holdReason });
      if (allowed.includes(to)) {
        expect({ from, to, status, now: body.status }).toEqual({ from, to, status: 200, now: to });
        continue;
      }
      expect({ from, to, status }).toEqual({ from, to, status: 409 });
      expect(body.error.code).toBe('CONFLICT');
      const { details } = body.error;
      expect({ ...details, allowed: details.allowed.toSorted() }).toEqual({
        currentStatus: from,
        requestedStatus: to,
        allowed: allowed.toSorted(),
      });
      expect(await told(id, 1)).toEqual([]);
    }
  });

  it('tells of the move, and of the resolution and the end beside it', async () => {
    const { id } = await file();
    const actor = { id: server.tenants.acme.userIds.manager, type: 'user' };
    await patch(id, { status: 'in_progress' });
    const { body: resolved } = await patch(id, { status: 'resolved', resolution: 'New toner' });
    const { body: closed } = await patch(id, { status: 'closed' });
    expect(resolved).toMatchObject({
      resolution: 'New toner',
      resolvedAt: resolved.updatedAt,
      closedAt: null,
    });
    expect(closed).toMatchObject({
      resolution: 'New toner',
      resolvedAt: resolved.resolvedAt,
      closedAt: closed.updatedAt,
    });
    const title = 'printer';
    expect(await told(id, 1)).toEqual([
      { type: 'ticket.status_changed', payload: { id, title, from: 'new', to: 'in_progress', actor } },
      { type: 'ticket.status_changed', payload: { id, title, from: 'in_progress', to: 'resolved', actor } },
      {
        type: 'ticket.resolved',
        payload: { id, title, resolution: 'New toner', resolved_at: resolved.resolvedAt, actor },
      },
      { type: 'ticket.status_changed', payload: { id, title, from: 'resolved', to: 'closed', actor } },
      { type: 'ticket.closed', payload: { id, title, reason: null, closed_at: closed.closedAt, actor } },
    ]);
  });

  it('takes the resolution back when work goes on', async () => {
    const { id } = await inStatus('open');
    await patch(id, { status: 'resolved', resolution: 'Restarted' });
    const { body } = await patch(id, { status: 'in_progress' });
    expect(body).toMatchObject({ status: 'in_progress', resolution: null, resolvedAt: null });
  });

  it('needs a reason to hold, and drops it afterwards', async () => {
    const { id } = await inStatus('open');
    const without = await patch(id, { status: 'on_hold' });
    expect(without.body.error.details).toEqual({ field: 'holdReason', constraint: 'isDefined' });
    const held = await patch(id, { status: 'on_hold', holdReason: 'awaiting_vendor' });
    expect(held.body).toMatchObject({ status: 'on_hold', holdReason: 'awaiting_vendor' });
    const other = await patch(id, { holdReason: 'awaiting_problem' });
    expect(other.body).toMatchObject({ status: 'on_hold', holdReason: 'awaiting_problem' });
    const cleared = await patch(id, { holdReason: null });
    expect(cleared.body.error.details).toEqual({ field: 'holdReason', constraint: 'isNotNull' });
    const { body } = await patch(id, { status: 'open' });
    expect(body).toMatchObject({ status: 'open', holdReason: null });
  });

  it.each([
    ['holdReason', 'awaiting_vendor'],
    ['resolution', 'Done'],
  ])('refuses %s where the status has none', async (field, value) => {
    const { id } = await inStatus('open');
    const { status, body } = await patch(id, { [field]: value });
    expect(status).toBe(400);
    expect(body.error.details).toEqual({ field, constraint: 'isEmpty' });
  });

  it('lets one of two simultaneous moves win and tells of no other', async () => {
    const { id } = await inStatus('resolved');
    const answers = await Promise.all([
      patch(id, { status: 'closed' }),
      patch(id, { status: 'in_progress' }, 'admin@acme'),
    ]);
    const events = await told(id, 1);
    const lost = answers.filter(({ status }) => status === 409);
    // Closed first leaves nothing to move; work first leaves nothing to close.
    expect(lost).toHaveLength(1);
    const moved = events.filter(({ type }) => type === 'ticket.status_changed');
    expect(moved.map(({ payload }) => payload['to'])).toEqual([
      answers.find(({ status }) => status === 200)?.body.status,
    ]);
  });
});

describe('PATCH /v1/tickets/:id', () => {
  it('leaves what is absent and clears what is null', async () => {
    const { userIds, teamId } = server.tenants.acme;
    const ticket = await file({
      description: 'jams',
      category: 'hardware',
      subcategory: 'printer',
      impact: 'low',
      urgency: 'low',
      assigneeId: userIds.agent,
      teamId,
      tags: ['a'],
      customFields: { floor: 3 },
    });
    const { body: touched } = await patch(ticket.id, { title: 'scanner' });
    expect(touched).toEqual({ ...ticket, title: 'scanner', version: 2, updatedAt: touched.updatedAt });
    const nothing = { description: null, category: null, subcategory: null, impact: null, urgency: null };
    const { body: cleared } = await patch(ticket.id, { ...nothing, assigneeId: null, teamId: null });
    const { assigneeId: _assigneeId, ...unassigned } = touched;
    expect(cleared).toEqual({
      ...unassigned,
      ...nothing,
      teamId: null,
      version: 3,
      updatedAt: cleared.updatedAt,
    });
  });

  it.each(['title', 'status', 'priority', 'type', 'requesterId', 'tags', 'customFields'])(
    'refuses null for %s',
    async (field) => {
      const { id } = await file();
      const { status, body } = await patch(id, { [field]: null });
      expect(status).toBe(400);
      expect(body.error.details).toEqual({ field, constraint: 'isNotNull' });
    },
  );

  it('tells of title, description, priority, type and custom fields, with what they were', async () => {
    const { id } = await file({ customFields: { a: 1 }, tags: ['x'], category: 'c' });
    const { body } = await patch(id, {
      title: 'plotter',
      description: 'smoke',
      priority: 'high',
      type: 'problem',
      customFields: { a: 2 },
      tags: ['y'],
      category: 'd',
    });
    expect(await told(id, 1)).toEqual([
      {
        type: 'ticket.updated',
        payload: {
          id,
          title: 'plotter',
          status: 'new',
          priority: 'high',
          type: 'problem',
          changes: [
            { field: 'title', from: 'printer', to: 'plotter' },
            { field: 'description', from: null, to: 'smoke' },
            { field: 'priority', from: 'medium', to: 'high' },
            { field: 'type', from: 'incident', to: 'problem' },
            { field: 'customFields', from: { a: 1 }, to: { a: 2 } },
          ],
          actor: { id: server.tenants.acme.userIds.manager, type: 'user' },
        },
      },
    ]);
    expect(body).toMatchObject({ tags: ['y'], category: 'd', version: 2 });
  });

  it('tells nothing of fields that are nobody else’s business, but counts the change', async () => {
    const { id } = await file();
    const { body } = await patch(id, { tags: ['y'], category: 'd', urgency: 'medium' });
    expect(body.version).toBe(2);
    expect(await told(id, 1)).toEqual([]);
  });

  it('tells of every assignment, also of the last one taken away', async () => {
    const { userIds, teamId } = server.tenants.acme;
    const { id } = await file();
    await patch(id, { assigneeId: userIds.agent });
    await patch(id, { assigneeId: userIds.manager, teamId });
    await patch(id, { assigneeId: null, teamId: null });
    const assignments = (await told(id, 1)).map(({ type, payload }) => [
      type,
      payload['previous_assignee_id'],
      payload['assignee_id'],
      payload['previous_team_id'],
      payload['team_id'],
    ]);
    expect(assignments).toEqual([
      ['ticket.assigned', null, userIds.agent, null, null],
      ['ticket.assigned', userIds.agent, userIds.manager, null, teamId],
      ['ticket.assigned', userIds.manager, null, teamId, null],
    ]);
  });

  it('changes nothing and tells nothing when what GET answered comes back', async () => {
    const { userIds } = server.tenants.acme;
    const ticket = await file({
      assigneeId: userIds.agent,
      customFields: { b: { d: 1, c: 2 } },
      tags: ['t'],
    });
    const { status, body } = await patch(ticket.id, { ...ticket, customFields: { b: { c: 2, d: 1 } } });
    expect(status).toBe(200);
    expect(body).toEqual(ticket);
    const empty = await patch(ticket.id, {});
    expect(empty.body).toEqual(ticket);
    expect(await told(ticket.id, 2)).toEqual([]);
  });

  it('sets the priority again when impact or urgency change, unless one is named', async () => {
    const { id } = await file({ impact: 'low', urgency: 'low' });
    const { body } = await patch(id, { impact: 'high', urgency: 'high' });
    expect(body.priority).toBe('critical');
    const { body: named } = await patch(id, { urgency: 'low', priority: 'high' });
    expect(named).toMatchObject({ urgency: 'low', priority: 'high' });
    const events = await told(id, 1);
    expect(events.map(({ payload }) => payload['changes'])).toEqual([
      [{ field: 'priority', from: 'low', to: 'critical' }],
      [{ field: 'priority', from: 'critical', to: 'high' }],
    ]);
  });

  it.each([
    ['assigneeId', 'usr_nobody'],
    ['requesterId', 'usr_nobody'],
    ['teamId', 'team_none'],
  ])('refuses %s of nobody', async (field, value) => {
    const { id } = await file();
    const { status, body } = await patch(id, { [field]: value });
    expect(status).toBe(400);
    expect(body.error.details).toEqual({ field, constraint: 'exists' });
  });

  it('keeps every one of many simultaneous changes', async () => {
    const { id } = await file();
    const answers = await Promise.all([
      patch(id, { title: 'one' }),
      patch(id, { description: 'two' }),
      patch(id, { category: 'three' }),
      patch(id, { tags: ['four'] }),
      patch(id, { customFields: { five: 5 } }),
      patch(id, { status: 'open' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const { body } = await server.rest('manager@acme', 'GET', `/v1/tickets/${id}`);
    expect(body).toMatchObject({
      title: 'one',
      description: 'two',
      category: 'three',
      tags: ['four'],
      customFields: { five: 5 },
      status: 'open',
      version: 7,
    });
  });
});

describe('who may change what', () => {
  it('lets requesters change title and description of their own tickets only', async () => {
    const ticket = await file({}, 'user@acme');
    const own = await patch(ticket.id, { title: 'fax', description: 'old' }, 'user@acme');
    expect(own.body).toMatchObject({ title: 'fax', description: 'old' });
    const back = await patch(ticket.id, { ...own.body, title: 'telefax' }, 'user@acme');
    expect(back.body).toMatchObject({ title: 'telefax', version: 3 });
    for (const change of [
      { status: 'open' },
      { priority: 'high' },
      { assigneeId: server.tenants.acme.userIds.agent },
    ]) {
      const { status, body } = await patch(ticket.id, change, 'user@acme');
      expect(status).toBe(403);
      expect(body.error.details).toEqual({
        requiredPermission: 'tickets:update:team',
        requiredRole: 'service_desk_agent',
        currentRole: 'end_user',
        field: Object.keys(change)[0],
      });
    }
    const foreign = await file();
    const { status, body } = await patch(foreign.id, { title: 'mine' }, 'user@acme');
    expect(status).toBe(404);
    expect(body.error.details).toEqual({ resource: 'ticket', id: foreign.id });
  });

  it('lets agents change their own, their assigned and their teams’ tickets', async () => {
    const { userIds, teamId } = server.tenants.acme;
    for (const near of [{ requesterId: userIds.agent }, { assigneeId: userIds.agent }, { teamId }]) {
      const { id } = await file(near);
      const { status } = await patch(id, { status: 'open' }, 'agent@acme');
      expect({ near, status }).toEqual({ near, status: 200 });
    }
    const { id } = await file();
    expect((await patch(id, { status: 'open' }, 'agent@acme')).status).toBe(404);
  });

  it('answers a malformed id as an absent one', async () => {
    for (const id of ['tkt_1', 'usr_01m7xk39s7et3t263rmh90e5bq', '%00', 'tkt_01m7xk39s7et3t263rmh90e5b%00']) {
      const { status, body } = await patch(id, { title: 'x' });
      expect({ id, status }).toEqual({ id, status: 404 });
      expect(body.error).toMatchObject({
        code: 'NOT_FOUND',
        details: { resource: 'ticket', id: decodeURIComponent(id) },
      });
    }
  });
});
