import { z } from 'zod';
import type { EventDefinition } from './event-definition.js';
import { confidence, count, id, text, ticketPriority } from './fields.js';

const subject = 'ticket_id';
const made = { model: text, processing_time_ms: count };

export const triageEvents = {
  'triage.completed': {
    meaning: 'AI triage classified a ticket (priority, category, routing)',
    payload: z.strictObject({
      ticket_id: id,
      priority: ticketPriority,
      category: text,
      subcategory: text,
      confidence,
      routing: z.strictObject({ team: text, agent: text }),
      ...made,
    }),
    subject,
  },
  'triage.auto_resolved': {
    meaning: 'AI triage applied a resolution',
    payload: z.strictObject({ ticket_id: id, resolution: text, confidence, ...made }),
    subject,
  },
  'triage.escalated': {
    meaning: 'AI triage escalated to a human agent',
    payload: z.strictObject({
      ticket_id: id,
      reason: text,
      confidence: confidence.nullable(),
      team: text.nullable(),
      ...made,
    }),
    subject,
  },
} as const satisfies Record<string, EventDefinition>;
