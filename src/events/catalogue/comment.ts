import { z } from 'zod';
import type { EventDefinition } from './event-definition.js';
import { id, text, timestamp } from './fields.js';

export const commentEvents = {
  'comment.added': {
    meaning: 'comment added by agent, customer or system',
    payload: z.strictObject({
      id,
      ticket_id: id,
      author_id: id,
      visibility: z.enum(['public', 'internal']),
      body: text,
      created_at: timestamp,
    }),
    subject: 'ticket_id',
  },
} as const satisfies Record<string, EventDefinition>;
