import { z } from 'zod';
import {
  HoldReason,
  TicketLevel,
  TicketPriority,
  TicketStatus,
  TicketType,
} from '../../entities/tickets/ticket-enums.js';
import { jsonObject } from '../json-object.js';
import { text } from '../storable-text.js';

const id = text().min(1).max(64);
const label = text().trim().min(1).max(255);

const fields = {
  title: text().trim().min(1).max(255),
  description: text().max(65_536).nullable(),
  type: z.enum(TicketType),
  priority: z.enum(TicketPriority),
  impact: z.enum(TicketLevel).nullable(),
  urgency: z.enum(TicketLevel).nullable(),
  category: label.nullable(),
  subcategory: label.nullable(),
  requesterId: id,
  assigneeId: id.nullable(),
  teamId: id.nullable(),
  tags: z.array(text().trim().min(1).max(64)).max(50).transform(distinct),
  customFields: jsonObject,
};

/** Nothing is cleared at creation, so that null says the same as absent. */
export const createTicketSchema = z.object({
  title: fields.title,
  description: fields.description.nullish(),
  type: fields.type.nullish(),
  priority: fields.priority.nullish(),
  impact: fields.impact.nullish(),
  urgency: fields.urgency.nullish(),
  category: fields.category.nullish(),
  subcategory: fields.subcategory.nullish(),
  requesterId: fields.requesterId.nullish(),
  assigneeId: fields.assigneeId.nullish(),
  teamId: fields.teamId.nullish(),
  tags: fields.tags.nullish(),
  customFields: fields.customFields.nullish(),
});

export const updateTicketSchema = z
  .object({
    ...fields,
    status: z.enum(TicketStatus),
    holdReason: z.enum(HoldReason).nullable(),
    resolution: text().max(65_536).nullable(),
  })
  .partial();

export type CreateTicket = z.input<typeof createTicketSchema>;
export type UpdateTicket = z.input<typeof updateTicketSchema>;
export type TicketFields = z.output<typeof createTicketSchema>;
export type TicketPatch = z.output<typeof updateTicketSchema>;

function distinct(tags: string[]): string[] {
  return [...new Set(tags)];
}
