import { z } from 'zod';
import type { EventDefinition } from './event-definition.js';
import { count, id, text, timestamp } from './fields.js';

const subject = 'ticket_id';
const timer = {
  ticket_id: id,
  sla_policy: text,
  metric: z.enum(['first_response', 'next_response', 'resolution']),
  target_minutes: count,
  elapsed_minutes: count,
};

export const slaEvents = {
  'sla.warning': {
    meaning: 'approaching the SLA deadline (configurable threshold)',
    payload: z.strictObject({ ...timer, remaining_minutes: count, due_at: timestamp }),
    subject,
  },
  'sla.breached': {
    meaning: 'SLA response or resolution time exceeded',
    payload: z.strictObject({ ...timer, breach_severity: z.enum(['minor', 'major', 'critical']) }),
    subject,
  },
} as const satisfies Record<string, EventDefinition>;
