import type { ItsmPrincipal } from '../../context.js';
import type { Ticket } from '../../entities/tickets/ticket.js';
import { type EventActor, type NewEvent, newEvent } from '../../events/catalogue.js';
import { eventActor } from '../event-actor.js';

/** ticket.updated tells of these and of nothing else (ITSM document, Event types). */
const reportedFields = ['title', 'description', 'priority', 'type', 'customFields'] as const;

/** What a ticket looked like before it was changed. */
export type TicketState = Readonly<
  Pick<Ticket, (typeof reportedFields)[number] | 'status' | 'assigneeId' | 'teamId'>
>;

/** The events of one change, in the order in which its parts happened. `changed` names the fields that differ. */
export function ticketEvents(
  before: TicketState,
  ticket: Ticket,
  changed: ReadonlySet<string>,
  caller: ItsmPrincipal,
): NewEvent[] {
  const { id, title, status, priority, type, organizationId } = ticket;
  const actor = eventActor(caller);
  const events: NewEvent[] = [];
  const changes = reportedFields
    .filter((field) => changed.has(field))
    .map((field) => ({ field, from: before[field] as never, to: ticket[field] as never }));
  if (changes.length > 0)
    events.push(
      newEvent('ticket.updated', organizationId, { id, title, status, priority, type, changes, actor }),
    );
  if (changed.has('status')) {
    events.push(
      newEvent('ticket.status_changed', organizationId, {
        id,
        title,
        from: before.status,
        to: status,
        actor,
      }),
      ...arrivals(ticket, actor),
    );
  }
  if (changed.has('assigneeId') || changed.has('teamId')) events.push(ticketAssigned(ticket, before, caller));
  return events;
}

/** Two of the states have an event of their own beside the move. */
function arrivals(ticket: Ticket, actor: EventActor): NewEvent[] {
  const { id, title, organizationId, status, resolution, resolvedAt, closedAt } = ticket;
  if (status === 'resolved' && resolvedAt) {
    const resolved_at = resolvedAt.toISOString();
    return [newEvent('ticket.resolved', organizationId, { id, title, resolution, resolved_at, actor })];
  }
  if (status === 'closed' && closedAt) {
    const closed_at = closedAt.toISOString();
    return [newEvent('ticket.closed', organizationId, { id, title, reason: null, closed_at, actor })];
  }
  return [];
}

export function ticketAssigned(
  ticket: Ticket,
  before: Pick<TicketState, 'assigneeId' | 'teamId'>,
  caller: ItsmPrincipal,
): NewEvent {
  return newEvent('ticket.assigned', ticket.organizationId, {
    id: ticket.id,
    title: ticket.title,
    assignee_id: ticket.assigneeId,
    team_id: ticket.teamId,
    previous_assignee_id: before.assigneeId,
    previous_team_id: before.teamId,
    actor: eventActor(caller),
  });
}
