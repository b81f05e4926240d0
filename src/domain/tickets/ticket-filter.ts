import type { ObjectQuery } from '@mikro-orm/core';
import { raw } from '@mikro-orm/postgresql';
import { z } from 'zod';
import type { Ticket } from '../../entities/tickets/ticket.js';
import { TicketPriority, TicketStatus, TicketType } from '../../entities/tickets/ticket-enums.js';
import { text } from '../storable-text.js';

/** Several values of one filter mean any of them. */
function anyOf<T extends z.ZodType>(item: T) {
  return z.array(item).max(100).nullish();
}

export const ticketFilterSchema = z.object({
  status: anyOf(z.enum(TicketStatus)),
  priority: anyOf(z.enum(TicketPriority)),
  type: anyOf(z.enum(TicketType)),
  assigneeId: anyOf(text().max(64)),
  teamId: anyOf(text().max(64)),
  requesterId: anyOf(text().max(64)),
  category: anyOf(text().max(255)),
  tag: anyOf(text().max(64)),
  /** Full text over title and description, in the words of a web search. */
  q: text().max(500).nullish(),
  createdAfter: z.date().nullish(),
  createdBefore: z.date().nullish(),
  updatedAfter: z.date().nullish(),
});

export type TicketFilter = z.input<typeof ticketFilterSchema>;
export type CheckedTicketFilter = z.output<typeof ticketFilterSchema>;

type Conditions = {
  [F in keyof CheckedTicketFilter]-?: (value: NonNullable<CheckedTicketFilter[F]>) => ObjectQuery<Ticket>;
};

const conditions: Conditions = {
  status: (status) => ({ status }),
  priority: (priority) => ({ priority }),
  type: (type) => ({ type }),
  assigneeId: (assigneeId) => ({ assigneeId }),
  teamId: (teamId) => ({ teamId }),
  requesterId: (requesterId) => ({ requesterId }),
  category: (category) => ({ category }),
  tag: (tags) => ({ tags: { $overlap: tags } }),
  q: (words) => ({
    [raw((alias) => `${alias}.search_text @@ websearch_to_tsquery('simple', ?)`, [words])]: [],
  }),
  createdAfter: (moment) => ({ createdAt: { $gt: moment } }),
  createdBefore: (moment) => ({ createdAt: { $lt: moment } }),
  updatedAfter: (moment) => ({ updatedAt: { $gt: moment } }),
};

/** One condition per filter that says something; an empty list says nothing. */
export function filterConditions(filter: CheckedTicketFilter): ObjectQuery<Ticket>[] {
  return namedFilters(filter).map((name) => {
    const condition = conditions[name] as (value: unknown) => ObjectQuery<Ticket>;
    return condition(filter[name]);
  });
}

export function namedFilters(filter: CheckedTicketFilter): (keyof Conditions)[] {
  return (Object.keys(conditions) as (keyof Conditions)[]).filter((name) => {
    const value = filter[name];
    return value != null && value !== '' && !(Array.isArray(value) && value.length === 0);
  });
}
