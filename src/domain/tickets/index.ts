export { createTicket } from './create-ticket.js';
export { followTicketEvents, type TicketEventsQuery } from './follow-ticket-events.js';
export { getTicket } from './get-ticket.js';
export { listTickets, type TicketQuery } from './list-tickets.js';
export type { TicketFilter } from './ticket-filter.js';
export type { CreateTicket, UpdateTicket } from './ticket-input.js';
export { type TicketSortField, ticketSortFields } from './ticket-sort.js';
export { ticketTransitions } from './ticket-transitions.js';
export { updateTicket } from './update-ticket.js';
