import { type EntityManager, raw } from '@mikro-orm/postgresql';
import type { Event } from '../../entities/events/event.js';
import { Ticket } from '../../entities/tickets/ticket.js';
import type { TicketAudience } from './ticket-visibility.js';

/** The feed hands the same object to every subscription, so that an event costs one query however many follow. */
const audiences = new WeakMap<Event, Promise<TicketAudience | undefined>>();

/** Who stands around an event's ticket, or undefined when the ticket is gone. */
export function audienceOf(em: EntityManager, event: Event): Promise<TicketAudience | undefined> {
  const known = audiences.get(event);
  if (known) return known;
  const audience = readAudience(em, event.subjectId);
  audiences.set(event, audience);
  // The next one to ask tries again; whoever waits for this one hears of it.
  audience.catch(() => audiences.delete(event));
  return audience;
}

async function readAudience(em: EntityManager, ticketId: string): Promise<TicketAudience | undefined> {
  const query = em
    .createQueryBuilder(Ticket, 't')
    .select([
      raw('t.requester_id as "requesterId"'),
      raw('t.assignee_id as "assigneeId"'),
      raw('array(select m.user_id from team_member m where m.team_id = t.team_id) as "teamUserIds"'),
    ])
    .where({ id: ticketId });
  await query.applyFilters();
  const [audience] = (await query.execute('all', false)) as unknown as TicketAudience[];
  return audience;
}
