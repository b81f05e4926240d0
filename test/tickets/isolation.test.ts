import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { type Answer, startTicketServer, type TicketServer } from './ticket-server.js';

let server: TicketServer;
let foreign: { id: string; version: number };
let own: { id: string };

beforeAll(async () => {
  server = await startTicketServer();
  const { userIds, teamId } = server.tenants.globex;
  const fields = { title: 'secret of globex', requesterId: userIds.user, assigneeId: userIds.agent, teamId };
  foreign = (await server.rest('manager@globex', 'POST', '/v1/tickets', fields)).body;
  own = (await server.rest('manager@acme', 'POST', '/v1/tickets', { title: 'of acme' })).body;
});
afterAll(() => server.close());

const everybody = ['admin@acme', 'manager@acme', 'agent@acme', 'user@acme'] as const;

/** An answer that says the same as that for an id nobody ever gave out. */
function expectAbsent({ status, body }: Answer): void {
  const error = body.error ?? { ...body.errors?.[0]?.extensions };
  expect({ status: body.error ? status : 404, code: error.code, details: error.details }).toEqual({
    status: 404,
    code: 'NOT_FOUND',
    details: { resource: 'ticket', id: foreign.id },
  });
  expect(JSON.stringify(body)).not.toContain('secret');
}

const READ = 'query ($id: ID!) { ticket(id: $id) { id title } }';
const UPDATE =
  'mutation ($id: ID!, $input: UpdateTicketInput!) { updateTicket(id: $id, input: $input) { id } }';
const LIST = `query ($filter: TicketFilterInput, $startingAfter: ID) {
  tickets(filter: $filter, startingAfter: $startingAfter, limit: 1000) { data { id title } meta { pagination { total } } }
}`;
const CREATE = 'mutation ($input: CreateTicketInput!) { createTicket(input: $input) { id } }';

describe.each(everybody)('%s', (who) => {
  it('cannot read a ticket of another organization', async () => {
    expectAbsent(await server.rest(who, 'GET', `/v1/tickets/${foreign.id}`));
    expectAbsent(await server.graphql(who, READ, { id: foreign.id }));
  });

  it('cannot change one, and nothing of it changes', async () => {
    expectAbsent(await server.rest(who, 'PATCH', `/v1/tickets/${foreign.id}`, { title: 'mine' }));
    expectAbsent(await server.graphql(who, UPDATE, { id: foreign.id, input: { title: 'mine' } }));
    const { body } = await server.rest('manager@globex', 'GET', `/v1/tickets/${foreign.id}`);
    expect(body).toEqual(foreign);
  });

  it('finds none in any list, under any filter', async () => {
    const { userIds, teamId } = server.tenants.globex;
    const filters = [
      {},
      { requesterId: [userIds.user] },
      { assigneeId: [userIds.agent] },
      { teamId: [teamId] },
      { q: 'secret' },
    ];
    for (const filter of filters) {
      const query = new URLSearchParams(
        Object.entries(filter).map(([name, value]): [string, string] => [name, `${value}`]),
      );
      const rest = await server.rest(who, 'GET', `/v1/tickets?limit=1000&${query}`);
      const graphql = await server.graphql(who, LIST, { filter });
      const page = graphql.body.data.tickets;
      expect(rest.body.data.map(({ id }: { id: string }) => id)).not.toContain(foreign.id);
      expect(page.data.map(({ id }: { id: string }) => id)).not.toContain(foreign.id);
      const reachesAll = who === 'admin@acme' || who === 'manager@acme';
      const total = reachesAll && Object.keys(filter).length === 0 ? 1 : 0;
      expect([rest.body.meta.pagination.total, page.meta.pagination.total]).toEqual([total, total]);
    }
  });

  it('cannot use one as a cursor', async () => {
    const rest = await server.rest(who, 'GET', `/v1/tickets?starting_after=${foreign.id}`);
    expect(rest.status).toBe(400);
    expect(rest.body.error.details).toEqual({ field: 'starting_after', constraint: 'exists' });
    const graphql = await server.graphql(who, LIST, { startingAfter: foreign.id });
    expect(graphql.body.errors[0].extensions.code).toBe('VALIDATION_ERROR');
  });
});

describe('people and teams of another organization', () => {
  it.each(['requesterId', 'assigneeId', 'teamId'] as const)('are nobody as %s', async (field) => {
    const { userIds, teamId } = server.tenants.globex;
    const fields = { [field]: field === 'teamId' ? teamId : userIds.agent };
    const answers = [
      await server.rest('admin@acme', 'POST', '/v1/tickets', { title: 'x', ...fields }),
      await server.rest('admin@acme', 'PATCH', `/v1/tickets/${own.id}`, fields),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.error.details).toEqual({ field, constraint: 'exists' });
    }
    const created = await server.graphql('admin@acme', CREATE, { input: { title: 'x', ...fields } });
    const updated = await server.graphql('admin@acme', UPDATE, { id: own.id, input: fields });
    for (const { body } of [created, updated])
      expect(body.errors[0].extensions).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field, constraint: 'exists' },
      });
  });
});

describe('subscriptions', () => {
  it('tell nothing of another organization, neither live nor replayed', async () => {
    const live = await server.follow('admin@acme');
    await eventually(() => server.feed.size() === 1);
    await server.rest('manager@globex', 'PATCH', `/v1/tickets/${foreign.id}`, { title: 'still secret' });
    await server.rest('manager@acme', 'PATCH', `/v1/tickets/${own.id}`, { title: 'told to acme' });
    const [first] = await live.take(1);
    expect(first?.payload['title']).toBe('told to acme');
    const replayed = await server.follow('admin@acme', { after: 0 });
    const titles = (await replayed.take(2)).map(({ payload }) => payload['title']);
    expect(titles).toEqual(['of acme', 'told to acme']);
    await live.stop();
    await replayed.stop();
  });
});

describe('without a token', () => {
  it('every operation asks for one', async () => {
    const answers = [
      await server.rest(undefined, 'GET', '/v1/tickets'),
      await server.rest(undefined, 'GET', `/v1/tickets/${own.id}`),
      await server.rest(undefined, 'POST', '/v1/tickets', { title: 'x' }),
      await server.rest(undefined, 'PATCH', `/v1/tickets/${own.id}`, { title: 'x' }),
    ];
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
      answers.map(() => [401, 'AUTHENTICATION_ERROR']),
    );
    const graph = [
      await server.graphql(undefined, LIST),
      await server.graphql(undefined, READ, { id: own.id }),
      await server.graphql(undefined, CREATE, { input: { title: 'x' } }),
      await server.graphql(undefined, UPDATE, { id: own.id, input: { title: 'x' } }),
    ];
    for (const { body } of graph) expect(body.errors[0].extensions.code).toBe('AUTHENTICATION_ERROR');
  });
});
