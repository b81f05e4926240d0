import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startTicketServer, type TicketEvent, type TicketServer, type Who } from './ticket-server.js';

let server: TicketServer;

beforeAll(async () => {
  server = await startTicketServer();
});
afterAll(() => server.close());

async function file(who: Who, fields: object): Promise<string> {
  const { status, body } = await server.rest(who, 'POST', '/v1/tickets', fields);
  expect(status).toBe(201);
  return body.id;
}

async function change(who: Who, id: string, fields: object): Promise<void> {
  const { status } = await server.rest(who, 'PATCH', `/v1/tickets/${id}`, fields);
  expect(status).toBe(200);
}

/** Resolves once as many subscriptions follow the log: only from then on is "from now on" certain. */
function followed(count: number): Promise<void> {
  return eventually(() => server.feed.size() === count);
}

const told = (events: TicketEvent[]) => events.map(({ type, payload }) => [type, payload['title']]);

describe('ticketEvents', () => {
  it('tells what happens from now on, in order', async () => {
    const before = server.feed.size();
    const stream = await server.follow('manager@acme');
    await followed(before + 1);
    const id = await file('user@acme', { title: 'live' });
    await change('manager@acme', id, { title: 'living', status: 'open' });
    const events = await stream.take(3);
    expect(told(events)).toEqual([
      ['ticket.created', 'live'],
      ['ticket.updated', 'living'],
      ['ticket.status_changed', 'living'],
    ]);
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    await stream.stop();
    await followed(before);
  });

  it('resumes after any event it told of, into what comes next', async () => {
    const first = await server.follow('manager@acme');
    await followed(1);
    const id = await file('user@acme', { title: 'resume' });
    await change('manager@acme', id, { status: 'open' });
    const seen = await first.take(2);
    await first.stop();
    await change('manager@acme', id, { status: 'in_progress' });
    const second = await server.follow('manager@acme', { after: seen[0]?.seq ?? 0 });
    const missed = await second.take(2);
    expect(missed.map(({ payload }) => payload['to'])).toEqual(['open', 'in_progress']);
    expect(missed[0]).toEqual(seen[1]);
    await change('manager@acme', id, { status: 'pending' });
    expect((await second.take(1)).map(({ payload }) => payload['to'])).toEqual(['pending']);
    await second.stop();
  });

  it('tells only of the types that were asked for', async () => {
    await followed(0);
    const stream = await server.follow('admin@acme', { types: ['ticket.resolved', 'ticket.closed'] });
    await followed(1);
    const id = await file('user@acme', { title: 'types' });
    for (const status of ['in_progress', 'resolved', 'closed']) await change('manager@acme', id, { status });
    expect((await stream.take(2)).map(({ type }) => type)).toEqual(['ticket.resolved', 'ticket.closed']);
    await stream.stop();
  });

  it('refuses a type that tells of no ticket, and whoever is nobody', async () => {
    const strange = await server.follow('admin@acme', { types: ['user.created'] });
    await expect(strange.take(1)).rejects.toMatchObject({
      extensions: { code: 'VALIDATION_ERROR', details: { field: 'types', constraint: 'isIn' } },
    });
    const anonymous = await server.follow(undefined);
    await expect(anonymous.take(1)).rejects.toMatchObject({ extensions: { code: 'AUTHENTICATION_ERROR' } });
    expect(server.feed.size()).toBe(0);
  });

  it('tells requesters of their own tickets, agents of those near them, and managers of all', async () => {
    const { userIds, teamId } = server.tenants.acme;
    await followed(0);
    const user = await server.follow('user@acme');
    const agent = await server.follow('agent@acme');
    const manager = await server.follow('manager@acme');
    await followed(3);
    await file('manager@acme', { title: "the manager's" });
    await file('manager@acme', { title: "the user's", requesterId: userIds.user });
    await file('manager@acme', { title: "the agent's", assigneeId: userIds.agent });
    await file('manager@acme', { title: "the team's", teamId });
    await file('user@acme', { title: 'the last' });
    await file('agent@acme', { title: 'the very last' });

    expect(told(await user.take(2))).toEqual([
      ['ticket.created', "the user's"],
      ['ticket.created', 'the last'],
    ]);
    expect(told(await agent.take(5))).toEqual([
      ['ticket.created', "the agent's"],
      ['ticket.assigned', "the agent's"],
      ['ticket.created', "the team's"],
      ['ticket.assigned', "the team's"],
      ['ticket.created', 'the very last'],
    ]);
    expect(told(await manager.take(8))).toEqual([
      ['ticket.created', "the manager's"],
      ['ticket.created', "the user's"],
      ['ticket.created', "the agent's"],
      ['ticket.assigned', "the agent's"],
      ['ticket.created', "the team's"],
      ['ticket.assigned', "the team's"],
      ['ticket.created', 'the last'],
      ['ticket.created', 'the very last'],
    ]);
    for (const stream of [user, agent, manager]) await stream.stop();
    await followed(0);
  });

  it('tells a team of a ticket from its arrival, and nothing more once it is gone', async () => {
    const { teamId } = server.tenants.acme;
    await followed(0);
    const id = await file('manager@acme', { title: 'moved away', teamId });
    await change('manager@acme', id, { teamId: null });
    const agent = await server.follow('agent@acme');
    await followed(1);
    await change('manager@acme', id, { title: 'no longer theirs' });
    await change('manager@acme', await file('manager@acme', { title: 'theirs' }), { teamId });
    const events = await agent.take(1);
    // Its creation as well, when the ticket was handed over before that event went out.
    if (events[0]?.type === 'ticket.created') events.push(...(await agent.take(1)));
    expect(events.map(({ payload }) => payload['title'])).not.toContain('no longer theirs');
    expect(told(events).at(-1)).toEqual(['ticket.assigned', 'theirs']);
    await agent.stop();
  });
});
