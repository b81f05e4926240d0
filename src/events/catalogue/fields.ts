import { z } from 'zod';
import { TicketPriority, TicketStatus, TicketType } from '../../entities/tickets/ticket-enums.js';

export const id = z.string().min(1);
export const text = z.string();
export const timestamp = z.iso.datetime();
export const count = z.int().min(0);
/** From 0 to 1; whoever has none says nothing instead. */
export const confidence = z.number().min(0).max(1);

export const actor = z.strictObject({ id, type: z.enum(['user', 'api_key', 'system', 'connector']) });
export const changes = z.array(z.strictObject({ field: text, from: z.json(), to: z.json() })).min(1);

export const ticketStatus = z.enum(TicketStatus);
export const ticketPriority = z.enum(TicketPriority);
export const ticketType = z.enum(TicketType);
