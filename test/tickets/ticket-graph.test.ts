import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { seedTickets } from '../../bench/support/seed-tickets.js';
import { watchStatements } from './statements.js';
import { startTicketServer, type TicketServer } from './ticket-server.js';

let server: TicketServer;

beforeAll(async () => {
  server = await startTicketServer();
  const { organizationId, userIds, teamId } = server.tenants.acme;
  await seedTickets({
    databaseUrl: server.database.url,
    organizationId,
    userIds: Object.values(userIds),
    teamIds: [teamId],
    count: 60,
    until: new Date('2026-05-01T00:00:00Z'),
  });
});
afterAll(() => server.close());

describe('tickets over GraphQL', () => {
  it('answers the same page as REST', async () => {
    const query = `{ tickets(limit: 7, page: 2, sortBy: priority, sortOrder: asc, filter: { status: [open, closed] }) {
      data { id number title status priority createdAt customFields }
      meta { pagination { page limit total totalPages hasMore } } hasMore cursor
    } }`;
    const graphql = await server.graphql('manager@acme', query);
    const path = '/v1/tickets?limit=7&page=2&sortBy=priority&sortOrder=asc&status=open,closed';
    const rest = await server.rest('manager@acme', 'GET', path);
    const { tickets } = graphql.body.data;
    expect(tickets.meta).toEqual(rest.body.meta);
    expect(tickets).toMatchObject({ hasMore: null, cursor: null });
    const shown = rest.body.data.map(
      ({ id, number, title, status, priority, createdAt, customFields }: Record<string, unknown>) => ({
        id,
        number,
        title,
        status,
        priority,
        createdAt,
        customFields,
      }),
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(tickets.data).toEqual(shown);
  });

  it('reads the people and teams of a page in one statement each', async () => {
    const query = `{ tickets(limit: 50) { data {
      requesterId requester { id name role } assigneeId assignee { id email } teamId team { id name }
    } } }`;
    await server.graphql('manager@acme', query);
    const { statements, stop } = await watchStatements(server.database.orm);
    const { body } = await server.graphql('manager@acme', query);
    stop();
    expect(statements).toHaveLength(3);
    expect(body.data.tickets.data).toHaveLength(50);
    for (const { requesterId, requester, assigneeId, assignee, teamId, team } of body.data.tickets.data) {
      expect([requester.id, assignee?.id ?? null, team?.id ?? null]).toEqual([
        requesterId,
        assigneeId,
        teamId,
      ]);
    }
  });

  it('files and changes a ticket under the same rules', async () => {
    const created = await server.graphql(
      'user@acme',
      'mutation { createTicket(input: { title: "no signal", urgency: high }) { id priority description version } }',
    );
    const { id, ...fields } = created.body.data.createTicket;
    expect(fields).toEqual({ priority: 'high', description: null, version: 1 });
    const update =
      'mutation ($id: ID!, $input: UpdateTicketInput!) { updateTicket(id: $id, input: $input) { status } }';
    const moved = await server.graphql('manager@acme', update, { id, input: { status: 'in_progress' } });
    expect(moved.body.data.updateTicket).toEqual({ status: 'in_progress' });
    const refused = await server.graphql('manager@acme', update, { id, input: { status: 'closed' } });
    expect(refused.body.errors[0].extensions).toMatchObject({
      code: 'CONFLICT',
      details: { currentStatus: 'in_progress', requestedStatus: 'closed' },
    });
    const blank = await server.graphql('manager@acme', update, { id, input: { title: ' ' } });
    expect(blank.body.errors[0].extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'title', constraint: 'isNotEmpty' },
    });
  });

  it('bounds a page whatever the transport', async () => {
    const { body } = await server.graphql('manager@acme', '{ tickets(limit: 1001) { data { id } } }');
    expect(body.errors[0].extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'limit', constraint: 'max' },
    });
  });
});
