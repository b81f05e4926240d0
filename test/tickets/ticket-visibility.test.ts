import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ItsmPrincipal } from '../../src/context.js';
import { audienceOf } from '../../src/domain/tickets/ticket-audience.js';
import { ticketView } from '../../src/domain/tickets/ticket-visibility.js';
import { Event } from '../../src/entities/events/event.js';
import { Team } from '../../src/entities/identity/team.js';
import { TeamMember } from '../../src/entities/identity/team-member.js';
import { newId } from '../../src/entities/ids.js';
import { ORGANIZATION_FILTER } from '../../src/entities/tenancy.js';
import { Ticket } from '../../src/entities/tickets/ticket.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const organizationId = newId('org');
const people = ['anna', 'ben', 'cleo'];
const teams = ['red', 'blue'];
const members = [
  ['red', 'anna'],
  ['blue', 'anna'],
  ['blue', 'ben'],
] as const;
const now = new Date();

let database: TestDatabase;

/** Every way three people and two teams can stand around a ticket: 3 x 4 x 3. */
const tickets = people.flatMap((requesterId) =>
  [...people, null].flatMap((assigneeId) =>
    [...teams, null].map((teamId) => ({ id: newId('tkt'), requesterId, assigneeId, teamId })),
  ),
);

beforeAll(async () => {
  database = await createTestDatabase();
  const em = database.orm.em.fork();
  em.setFilterParams(ORGANIZATION_FILTER, { organizationId });
  for (const id of teams) em.create(Team, { id, organizationId, name: id, createdAt: now });
  for (const [teamId, userId] of members) em.create(TeamMember, { teamId, userId, organizationId });
  for (const [at, ticket] of tickets.entries())
    em.create(Ticket, {
      ...ticket,
      organizationId,
      number: at + 1,
      title: ticket.id,
      status: 'new',
      type: 'task',
      priority: 'low',
      source: 'api',
      createdAt: now,
      updatedAt: now,
    });
  await em.flush();
});
afterAll(() => database.close());

function caller(userId: string, scope: 'own' | 'team' | 'all'): ItsmPrincipal {
  return {
    userId,
    email: `${userId}@acme.test`,
    organizationId,
    role: 'service_desk_agent',
    sessionId: 'ses_1',
    tokenId: 'jti_1',
    permissions: [`tickets:read:${scope}`],
  };
}

it.each(
  people.flatMap((userId) => (['own', 'team', 'all'] as const).map((scope) => [userId, scope] as const)),
)(
  'what %s sees in lists with scope %s is what they are told of, and what the rule says',
  async (userId, scope) => {
    const em = database.orm.em.fork();
    em.setFilterParams(ORGANIZATION_FILTER, { organizationId });
    const view = ticketView(caller(userId, scope), 'read');
    const listed = await em.find(Ticket, view.where);
    const told: string[] = [];
    for (const { id } of tickets) {
      const event = Object.assign(new Event(), { subjectId: id });
      const audience = await audienceOf(em, event);
      if (audience && view.includes(audience)) told.push(id);
    }
    const isTheirTeam = (teamId: string | null) =>
      members.some(([team, user]) => team === teamId && user === userId);
    const right = tickets.filter(
      ({ requesterId, assigneeId, teamId }) =>
        scope === 'all' ||
        requesterId === userId ||
        (scope === 'team' && (assigneeId === userId || isTheirTeam(teamId))),
    );
    const ids = right.map(({ id }) => id).toSorted();
    expect(listed.map(({ id }) => id).toSorted()).toEqual(ids);
    expect(told.toSorted()).toEqual(ids);
  },
);

it('is refused to who holds no permission for tickets', () => {
  const nobody = { ...caller('anna', 'own'), permissions: ['comments:read:all'] };
  expect(() => ticketView(nobody, 'read')).toThrow(expect.objectContaining({ code: 'AUTHORIZATION_ERROR' }));
});
