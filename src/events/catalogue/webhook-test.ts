import { z } from 'zod';
import type { EventDefinition } from './event-definition.js';
import { id, text } from './fields.js';

export const testEvents = {
  'webhook.test': {
    meaning: 'sent by the test endpoint',
    payload: z.strictObject({ message: text, webhook_id: id }),
    subject: 'webhook_id',
  },
} as const satisfies Record<string, EventDefinition>;
