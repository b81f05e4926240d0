import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTicketServer, type TicketServer } from './ticket-server.js';

let server: TicketServer;

beforeAll(async () => {
  server = await startTicketServer();
});
afterAll(() => server.close());

describe('POST /v1/tickets', () => {
  it('files a ticket with the defaults of the document and says where it is', async () => {
    const { status, headers, body } = await server.rest('user@acme', 'POST', '/v1/tickets', {
      title: '  VPN is down ',
    });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/tickets/${body.id}`);
    expect(body).toEqual({
      id: expect.stringMatching(/^tkt_[0-9a-hjkmnp-tv-z]{26}$/),
      number: expect.any(Number),
      title: 'VPN is down',
      description: null,
      status: 'new',
      holdReason: null,
      priority: 'medium',
      impact: null,
      urgency: null,
      type: 'incident',
      category: null,
      subcategory: null,
      tags: [],
      customFields: {},
      requesterId: server.tenants.acme.userIds.user,
      teamId: null,
      source: 'api',
      resolution: null,
      externalRefs: [],
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: body.createdAt,
      resolvedAt: null,
      closedAt: null,
      version: 1,
    });
    const again = await server.rest('user@acme', 'GET', `/v1/tickets/${body.id}`);
    expect(again.body).toEqual(body);
  });

  it('records exactly the documented payload, and the assignment beside it', async () => {
    const { userIds, teamId } = server.tenants.acme;
    const { body } = await server.rest('agent@acme', 'POST', '/v1/tickets', {
      title: 'Disk is full',
      type: 'problem',
      impact: 'high',
      urgency: 'high',
      requesterId: userIds.user,
      assigneeId: userIds.agent,
      teamId,
      tags: ['disk', ' disk ', 'db'],
      customFields: { asset: { rack: 7 } },
    });
    expect(body).toMatchObject({
      priority: 'critical',
      requesterId: userIds.user,
      assigneeId: userIds.agent,
      teamId,
      tags: ['disk', 'db'],
      customFields: { asset: { rack: 7 } },
    });
    const events = await server.eventsOf(body.id);
    expect(events.map(({ type, payload }) => ({ type, payload }))).toEqual([
      {
        type: 'ticket.created',
        payload: { id: body.id, title: 'Disk is full', status: 'new', priority: 'critical', type: 'problem' },
      },
      {
        type: 'ticket.assigned',
        payload: {
          id: body.id,
          title: 'Disk is full',
          assignee_id: userIds.agent,
          team_id: teamId,
          previous_assignee_id: null,
          previous_team_id: null,
          actor: { id: userIds.agent, type: 'user' },
        },
      },
    ]);
  });

  it.each([
    ['high', 'high', 'critical'],
    ['high', 'medium', 'high'],
    ['high', 'low', 'medium'],
    ['medium', 'high', 'high'],
    ['medium', 'medium', 'medium'],
    ['medium', 'low', 'low'],
    ['low', 'high', 'medium'],
    ['low', 'medium', 'low'],
    ['low', 'low', 'low'],
    ['high', undefined, 'high'],
    [undefined, 'low', 'low'],
  ])('takes impact %s and urgency %s for priority %s', async (impact, urgency, priority) => {
    const { body } = await server.rest('user@acme', 'POST', '/v1/tickets', { title: 'x', impact, urgency });
    expect(body.priority).toBe(priority);
  });

  it('prefers the priority that is named', async () => {
    const input = { title: 'x', impact: 'high', urgency: 'high', priority: 'low' };
    const { body } = await server.rest('user@acme', 'POST', '/v1/tickets', input);
    expect(body.priority).toBe('low');
  });

  it('numbers the tickets of an organization without gaps or twins, and others from 1', async () => {
    const filed = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        server.rest('manager@globex', 'POST', '/v1/tickets', { title: `ticket ${at}` }),
      ),
    );
    const numbers = filed.map(({ body }) => body.number).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  const long = (length: number) => 'x'.repeat(length);
  const nested = (levels: number): object => (levels === 0 ? {} : { deeper: nested(levels - 1) });
  it.each<[string, unknown, string, string]>([
    ['no title', {}, 'title', 'isDefined'],
    ['a title that is null', { title: null }, 'title', 'isNotNull'],
    ['a blank title', { title: ' \t ' }, 'title', 'isNotEmpty'],
    ['a long title', { title: long(256) }, 'title', 'maxLength'],
    ['a title that is a number', { title: 5 }, 'title', 'isString'],
    ['NUL in a title', { title: 'a\0b' }, 'title', 'isString'],
    ['half a surrogate pair', { title: 'a\ud800b' }, 'title', 'isString'],
    ['a long description', { title: 'x', description: long(65_537) }, 'description', 'maxLength'],
    ['an unknown priority', { title: 'x', priority: 'urgent' }, 'priority', 'isIn'],
    ['an unknown type', { title: 'x', type: 'bug' }, 'type', 'isIn'],
    [
      'too many tags',
      { title: 'x', tags: Array.from({ length: 51 }, (_, at) => `${at}`) },
      'tags',
      'arrayMaxSize',
    ],
    ['a long tag', { title: 'x', tags: [long(65)] }, 'tags.0', 'maxLength'],
    ['custom fields that are a list', { title: 'x', customFields: [] }, 'customFields', 'isScalar'],
    ['large custom fields', { title: 'x', customFields: { a: long(32_768) } }, 'customFields', 'maxLength'],
    ['deep custom fields', { title: 'x', customFields: nested(17) }, 'customFields', 'isJSON'],
    ['NUL in custom fields', { title: 'x', customFields: { a: ['\0'] } }, 'customFields', 'isJSON'],
    ['an unknown field', { title: 'x', colour: 'red' }, 'colour', 'whitelistValidation'],
    ['a status', { title: 'x', status: 'closed' }, 'status', 'whitelistValidation'],
    ['an assignee who does not exist', { title: 'x', assigneeId: 'usr_nobody' }, 'assigneeId', 'exists'],
    ['a requester who does not exist', { title: 'x', requesterId: 'usr_nobody' }, 'requesterId', 'exists'],
    ['a team that does not exist', { title: 'x', teamId: 'team_none' }, 'teamId', 'exists'],
  ])('refuses %s', async (_what, input, field, constraint) => {
    const { status, body } = await server.rest('manager@acme', 'POST', '/v1/tickets', input);
    expect({ status, code: body.error?.code, ...body.error?.details }).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
      field,
      constraint,
    });
  });

  it('names every dangling reference at once', async () => {
    const { body } = await server.rest('manager@acme', 'POST', '/v1/tickets', {
      title: 'x',
      assigneeId: 'usr_nobody',
      teamId: 'team_none',
    });
    expect(body.error.details.errors).toMatchObject([
      { field: 'assigneeId', constraint: 'exists' },
      { field: 'teamId', constraint: 'exists' },
    ]);
  });

  it('takes what is as large as allowed', async () => {
    const { status } = await server.rest('manager@acme', 'POST', '/v1/tickets', {
      title: long(255),
      description: long(65_536),
      tags: Array.from({ length: 50 }, (_, at) => `${at}`.padStart(64, 't')),
      customFields: nested(15),
    });
    expect(status).toBe(201);
  });

  it('ignores its own read-only fields and refuses nothing that GET answered', async () => {
    const { body: first } = await server.rest('manager@acme', 'POST', '/v1/tickets', { title: 'original' });
    const { status: _status, holdReason: _holdReason, resolution: _resolution, ...copy } = first;
    const { status, body } = await server.rest('manager@acme', 'POST', '/v1/tickets', copy);
    expect(status).toBe(201);
    expect(body.id).not.toBe(first.id);
    expect(body.number).toBe(first.number + 1);
  });

  it.each([
    ['files for another person', (ids: Ids) => ({ requesterId: ids.agent }), 'requesterId'],
    ['assigns a person', (ids: Ids) => ({ assigneeId: ids.agent }), 'assigneeId'],
    ['assigns a team', (ids: Ids) => ({ teamId: ids.team }), 'teamId'],
  ])('answers 403 when an end user %s', async (_what, fields, field) => {
    const { userIds, teamId } = server.tenants.acme;
    const input = { title: 'x', ...fields({ agent: userIds.agent, team: teamId }) };
    const { status, body } = await server.rest('user@acme', 'POST', '/v1/tickets', input);
    expect(status).toBe(403);
    expect(body.error).toMatchObject({
      code: 'AUTHORIZATION_ERROR',
      details: {
        requiredPermission: 'tickets:create:team',
        requiredRole: 'service_desk_agent',
        currentRole: 'end_user',
        field,
      },
    });
  });

  it('answers 401 without a token', async () => {
    const { status, body } = await server.rest(undefined, 'POST', '/v1/tickets', { title: 'x' });
    expect(status).toBe(401);
    expect(body.error.code).toBe('AUTHENTICATION_ERROR');
  });
});

interface Ids {
  agent: string;
  team: string;
}
