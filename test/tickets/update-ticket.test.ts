import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { file, patch, told } from './ticket-changes.js';
import { startTicketServer, type TicketServer } from './ticket-server.js';

let server: TicketServer;

beforeAll(async () => {
  server = await startTicketServer();
});
afterAll(() => server.close());

describe('PATCH /v1/tickets/:id', () => {
  it('leaves what is absent and clears what is null', async () => {
    const { userIds, teamId } = server.tenants.acme;
    const ticket = await file(server, {
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
    const { body: touched } = await patch(server, ticket.id, { title: 'scanner' });
    expect(touched).toEqual({ ...ticket, title: 'scanner', version: 2, updatedAt: touched.updatedAt });
    const nothing = { description: null, category: null, subcategory: null, impact: null, urgency: null };
    const { body: cleared } = await patch(server, ticket.id, { ...nothing, assigneeId: null, teamId: null });
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
      const { id } = await file(server);
      const { status, body } = await patch(server, id, { [field]: null });
      expect(status).toBe(400);
      expect(body.error.details).toEqual({ field, constraint: 'isNotNull' });
    },
  );

  it('tells of title, description, priority, type and custom fields, with what they were', async () => {
    const { id } = await file(server, { customFields: { a: 1 }, tags: ['x'], category: 'c' });
    const { body } = await patch(server, id, {
      title: 'plotter',
      description: 'smoke',
      priority: 'high',
      type: 'problem',
      customFields: { a: 2 },
      tags: ['y'],
      category: 'd',
    });
    expect(await told(server, id, 1)).toEqual([
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
    const { id } = await file(server);
    const { body } = await patch(server, id, { tags: ['y'], category: 'd', urgency: 'medium' });
    expect(body.version).toBe(2);
    expect(await told(server, id, 1)).toEqual([]);
  });

  it('tells of every assignment, also of the last one taken away', async () => {
    const { userIds, teamId } = server.tenants.acme;
    const { id } = await file(server);
    await patch(server, id, { assigneeId: userIds.agent });
    await patch(server, id, { assigneeId: userIds.manager, teamId });
    await patch(server, id, { assigneeId: null, teamId: null });
    const assignments = (await told(server, id, 1)).map(({ type, payload }) => [
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
    const ticket = await file(server, {
      assigneeId: userIds.agent,
      customFields: { b: { d: 1, c: 2 } },
      tags: ['t'],
    });
    const { status, body } = await patch(server, ticket.id, {
      ...ticket,
      customFields: { b: { c: 2, d: 1 } },
    });
    expect(status).toBe(200);
    expect(body).toEqual(ticket);
    const empty = await patch(server, ticket.id, {});
    expect(empty.body).toEqual(ticket);
    expect(await told(server, ticket.id, 2)).toEqual([]);
  });

  it('sets the priority again when impact or urgency change, unless one is named', async () => {
    const { id } = await file(server, { impact: 'low', urgency: 'low' });
    const { body } = await patch(server, id, { impact: 'high', urgency: 'high' });
    expect(body.priority).toBe('critical');
    const { body: named } = await patch(server, id, { urgency: 'low', priority: 'high' });
    expect(named).toMatchObject({ urgency: 'low', priority: 'high' });
    const events = await told(server, id, 1);
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
    const { id } = await file(server);
    const { status, body } = await patch(server, id, { [field]: value });
    expect(status).toBe(400);
    expect(body.error.details).toEqual({ field, constraint: 'exists' });
  });

  it('keeps every one of many simultaneous changes', async () => {
    const { id } = await file(server);
    const answers = await Promise.all([
      patch(server, id, { title: 'one' }),
      patch(server, id, { description: 'two' }),
      patch(server, id, { category: 'three' }),
      patch(server, id, { tags: ['four'] }),
      patch(server, id, { customFields: { five: 5 } }),
      patch(server, id, { status: 'open' }),
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
    const ticket = await file(server, {}, 'user@acme');
    const own = await patch(server, ticket.id, { title: 'fax', description: 'old' }, 'user@acme');
    expect(own.body).toMatchObject({ title: 'fax', description: 'old' });
    const back = await patch(server, ticket.id, { ...own.body, title: 'telefax' }, 'user@acme');
    expect(back.body).toMatchObject({ title: 'telefax', version: 3 });
    for (const change of [
      { status: 'open' },
      { priority: 'high' },
      { assigneeId: server.tenants.acme.userIds.agent },
    ]) {
      const { status, body } = await patch(server, ticket.id, change, 'user@acme');
      expect(status).toBe(403);
      expect(body.error.details).toEqual({
        requiredPermission: 'tickets:update:team',
        requiredRole: 'service_desk_agent',
        currentRole: 'end_user',
        field: Object.keys(change)[0],
      });
    }
    const foreign = await file(server);
    const { status, body } = await patch(server, foreign.id, { title: 'mine' }, 'user@acme');
    expect(status).toBe(404);
    expect(body.error.details).toEqual({ resource: 'ticket', id: foreign.id });
  });

  it('lets agents change their own, their assigned and their teams’ tickets', async () => {
    const { userIds, teamId } = server.tenants.acme;
    for (const near of [{ requesterId: userIds.agent }, { assigneeId: userIds.agent }, { teamId }]) {
      const { id } = await file(server, near);
      const { status } = await patch(server, id, { status: 'open' }, 'agent@acme');
      expect({ near, status }).toEqual({ near, status: 200 });
    }
    const { id } = await file(server);
    expect((await patch(server, id, { status: 'open' }, 'agent@acme')).status).toBe(404);
  });

  it('answers a malformed id as an absent one', async () => {
    for (const id of ['tkt_1', 'usr_01m7xk39s7et3t263rmh90e5bq', '%00', 'tkt_01m7xk39s7et3t263rmh90e5b%00']) {
      const { status, body } = await patch(server, id, { title: 'x' });
      expect({ id, status }).toEqual({ id, status: 404 });
      expect(body.error).toMatchObject({
        code: 'NOT_FOUND',
        details: { resource: 'ticket', id: decodeURIComponent(id) },
      });
    }
  });
});
