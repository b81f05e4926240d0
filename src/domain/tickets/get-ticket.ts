import { itsmCaller, type RequestContext } from '../../context.js';
import { isId } from '../../entities/ids.js';
import { Ticket } from '../../entities/tickets/ticket.js';
import { notFound } from '../../errors.js';
import { ticketView } from './ticket-visibility.js';

/** @throws NOT_FOUND, also for a ticket the caller may not see */
export async function getTicket(context: RequestContext, id: string): Promise<Ticket> {
  requireTicketId(id);
  const { where } = ticketView(itsmCaller(context), 'read');
  const ticket = await context.em.findOne(Ticket, { $and: [{ id }, where] }, { disableIdentityMap: true });
  if (!ticket) throw notFound('ticket', id);
  return ticket;
}

/** A malformed id is that of no ticket. @throws NOT_FOUND */
export function requireTicketId(id: string): void {
  if (!isId('tkt', id)) throw notFound('ticket', id);
}
