import { z } from 'zod';
import { isEventType } from '../../events/catalogue.js';
import { text } from '../storable-text.js';

/** Subscribes to every type there is and will be. */
const EVERYTHING = '*';
const MAX_URL_LENGTH = 2_048;
const MAX_EVENTS = 100;

const url = text().trim().min(1).max(MAX_URL_LENGTH);
const name = text().trim().min(1).max(200);
export const eventTypeName = z.string().refine(isEventType, {
  error: 'is not a type of event',
  params: { constraint: 'isIn' },
});
const events = z
  .array(z.literal(EVERYTHING).or(eventTypeName))
  .min(1)
  .max(MAX_EVENTS)
  .transform((list) => [...new Set(list)]);

export const createWebhookSchema = z.object({
  url,
  name: name.nullish(),
  events,
  active: z.boolean().nullish(),
});

export const updateWebhookSchema = z.object({
  url: url.optional(),
  name: name.nullish(),
  events: events.optional(),
  active: z.boolean().optional(),
});

export const replaySchema = z.object({
  since: z.date(),
  eventTypes: z.array(eventTypeName).min(1).max(MAX_EVENTS).nullish(),
});

export type CreateWebhook = z.input<typeof createWebhookSchema>;
export type UpdateWebhook = z.input<typeof updateWebhookSchema>;
