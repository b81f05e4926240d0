import { expect } from '@jest/globals';
import type { TicketServer, Who } from './ticket-server.js';

/** Files a ticket. */
export async function file(server: TicketServer, fields: object = {}, who: Who = 'manager@acme') {
  const { status, body } = await server.rest(who, 'POST', '/v1/tickets', { title: 'printer', ...fields });
  expect(status).toBe(201);
  return body;
}

export function patch(server: TicketServer, id: string, body: unknown, who: Who = 'manager@acme') {
  return server.rest(who, 'PATCH', `/v1/tickets/${id}`, body);
}

/** What the log tells of a ticket after its first `after` events. */
export async function told(server: TicketServer, ticketId: string, after: number) {
  const events = await server.eventsOf(ticketId);
  return events.slice(after).map(({ type, payload }) => ({ type, payload }));
}
