import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type ItsmPrincipal, itsmCaller, type RequestContext } from '../../context.js';
import { Ticket } from '../../entities/tickets/ticket.js';
import { invalidField, notFound } from '../../errors.js';
import { transactional } from '../../events/transaction.js';
import { forbidden } from '../identity/index.js';
import { validate } from '../validate.js';
import { requireTicketId } from './get-ticket.js';
import { ticketEvents } from './ticket-changes.js';
import { type TicketPatch, type UpdateTicket, updateTicketSchema } from './ticket-input.js';
import { priorityFrom } from './ticket-priority.js';
import { requireReferences } from './ticket-references.js';
import { requireTransition } from './ticket-transitions.js';
import { ticketView } from './ticket-visibility.js';

type Changes = Partial<Ticket>;

/** What a requester may still change of a ticket that others work on. */
const requesterFields: ReadonlySet<string> = new Set(['title', 'description']);

/**
 * Absent fields stay, null clears. The row is locked first, so that of two simultaneous updates the later one sees
 * what the earlier one left, and no event tells of a move that did not happen. An update that changes nothing leaves
 * version, updatedAt and the event log alone.
 * @throws NOT_FOUND, VALIDATION_ERROR, AUTHORIZATION_ERROR, CONFLICT for a status move that is not in the table
 */
export async function updateTicket(
  context: RequestContext,
  id: string,
  input: UpdateTicket,
): Promise<Ticket> {
  const caller = itsmCaller(context);
  requireTicketId(id);
  const patch = validate(updateTicketSchema, input);
  return transactional(context, async ({ em, record }) => {
    const ticket = await lockTicket(em, caller, id);
    const now = context.services.now();
    const changes = difference(ticket, {
      ...patch,
      ...statusEffects(ticket, patch, now),
      ...priority(ticket, patch),
    });
    const changed = new Set(Object.keys(changes));
    if (changed.size === 0) return ticket;
    requireEditable(caller, changed);
    await requireReferences(em, changes);
    const before = { ...ticket };
    Object.assign(ticket, changes, { updatedAt: now });
    for (const event of ticketEvents(before, ticket, changed, caller)) record(event);
    return ticket;
  });
}

/** A ticket the caller may read but not change is refused, one they may not read does not exist. */
async function lockTicket(em: EntityManager, caller: ItsmPrincipal, id: string): Promise<Ticket> {
  const update = ticketView(caller, 'update');
  const ticket = await em.findOne(
    Ticket,
    { $and: [{ id }, update.where] },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (ticket) return ticket;
  const readable = await em.count(Ticket, { $and: [{ id }, ticketView(caller, 'read').where] });
  throw readable === 0 ? notFound('ticket', id) : forbidden(caller, 'tickets:update:all');
}

function requireEditable(caller: ItsmPrincipal, changed: ReadonlySet<string>): void {
  if (ticketView(caller, 'update').scope !== 'own') return;
  const field = [...changed].find((name) => !requesterFields.has(name));
  if (field !== undefined) throw forbidden(caller, 'tickets:update:team', field);
}

/** Only what the caller named and what really differs. */
function difference(ticket: Ticket, wanted: Changes): Changes {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(ticket[field as keyof Ticket], value),
    ),
  );
}

/** What comes with a status: the reason of a hold, the resolution, the moments of both ends. */
function statusEffects(ticket: Ticket, patch: TicketPatch, now: Date): Changes {
  const status = patch.status ?? ticket.status;
  const moved = status !== ticket.status;
  if (moved) requireTransition(ticket.status, status);
  const effects: Changes = {
    holdReason: boundTo(['on_hold'], status, 'holdReason', ticket, patch),
    resolution: boundTo(['resolved', 'closed'], status, 'resolution', ticket, patch),
  };
  if (status === 'on_hold' && effects.holdReason === null)
    throw invalidField(
      'holdReason',
      patch.holdReason === null ? 'isNotNull' : 'isDefined',
      'holdReason says why a ticket is on hold',
    );
  if (!moved) return effects;
  if (status === 'resolved') effects.resolvedAt = now;
  else if (status === 'closed') effects.closedAt = now;
  else effects.resolvedAt = null;
  return effects;
}

/** A value that only some states have: leaving them clears it, and giving it in another state is a mistake. */
function boundTo<F extends 'holdReason' | 'resolution'>(
  states: readonly string[],
  status: string,
  field: F,
  ticket: Ticket,
  patch: Pick<Changes, F>,
): Ticket[F] {
  const given = patch[field];
  if (states.includes(status)) return given === undefined ? ticket[field] : given;
  if (given != null && given !== ticket[field])
    throw invalidField(field, 'isEmpty', `${field} goes with the status ${states.join(' or ')}`);
  return null;
}

/** Impact and urgency set the priority again when they change, unless the caller names one. */
function priority(ticket: Ticket, patch: TicketPatch): Changes {
  const { impact = ticket.impact, urgency = ticket.urgency } = patch;
  const same = impact === ticket.impact && urgency === ticket.urgency;
  if (patch.priority !== undefined || same || (impact === null && urgency === null)) return {};
  return { priority: priorityFrom(impact, urgency) };
}
