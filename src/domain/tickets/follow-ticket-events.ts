import { type Followed, itsmCaller, type RequestContext } from '../../context.js';
import type { Event } from '../../entities/events/event.js';
import { invalidField } from '../../errors.js';
import { eventTypes } from '../../events/catalogue.js';
import { audienceOf } from './ticket-audience.js';
import { ticketView } from './ticket-visibility.js';
import { VisibleEvents } from './visible-events.js';

const ticketEventTypes: ReadonlySet<string> = new Set(
  eventTypes.filter((type) => type.startsWith('ticket.')),
);

export interface TicketEventsQuery {
  /** The last number seen; absent means from now on. */
  after?: number | null | undefined;
  /** Absent or empty means all of them. */
  types?: readonly string[] | null | undefined;
}

/**
 * Events of tickets the caller may see. Who sees only some is asked about each ticket as it stands when its event goes
 * out, so that an event of a ticket handed over since stays with its new people.
 * @throws VALIDATION_ERROR for a type that tells of no ticket
 */
export function followTicketEvents(context: RequestContext, query: TicketEventsQuery): Followed<Event> {
  const caller = itsmCaller(context);
  const view = ticketView(caller, 'read');
  const types = wantedTypes(query.types);
  const events = context.services.events.subscribe({
    organizationId: caller.organizationId,
    accepts: (event) => types.has(event.type),
    ...(query.after == null ? {} : { after: query.after }),
  });
  if (view.scope === 'all') return events;
  return new VisibleEvents(events, async (event) => {
    const audience = await audienceOf(context.em, event);
    return audience !== undefined && view.includes(audience);
  });
}

function wantedTypes(types: readonly string[] | null | undefined): ReadonlySet<string> {
  if (types == null || types.length === 0) return ticketEventTypes;
  const unknown = types.find((type) => !ticketEventTypes.has(type));
  if (unknown !== undefined)
    throw invalidField('types', 'isIn', `types must be among ${[...ticketEventTypes].join(', ')}`);
  return new Set(types);
}
