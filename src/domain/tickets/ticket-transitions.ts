import type { TicketStatus } from '../../entities/tickets/ticket-enums.js';
import { conflict } from '../../errors.js';

/** Moves a caller may ask for; new -> resolved is triage's alone. closed and cancelled are final. */
export const ticketTransitions: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  new: ['open', 'in_progress', 'cancelled'],
  open: ['in_progress', 'pending', 'on_hold', 'resolved', 'cancelled'],
  in_progress: ['open', 'pending', 'on_hold', 'resolved', 'cancelled'],
  pending: ['open', 'in_progress', 'resolved', 'cancelled'],
  on_hold: ['open', 'in_progress', 'resolved', 'cancelled'],
  resolved: ['in_progress', 'closed'],
  closed: [],
  cancelled: [],
};

/** @throws CONFLICT naming the moves that are allowed instead. */
export function requireTransition(from: TicketStatus, to: TicketStatus): void {
  const allowed = ticketTransitions[from];
  if (allowed.includes(to)) return;
  throw conflict(`A ticket cannot go from ${from} to ${to}`, {
    currentStatus: from,
    requestedStatus: to,
    allowed,
  });
}
