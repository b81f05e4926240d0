import { z } from 'zod';
import type { EventDefinition } from './event-definition.js';
import { count, id, text } from './fields.js';

const subject = 'run_id';
/** What all three say; a run is for a ticket, a change or neither. */
const run = {
  workflow_id: id,
  run_id: id,
  name: text,
  ticket_id: id.nullable(),
  change_id: id.nullable(),
  trigger: z.enum(['event', 'schedule', 'manual']),
};

export const workflowEvents = {
  'workflow.started': {
    meaning: 'automated workflow started for a ticket or change request',
    payload: z.strictObject(run),
    subject,
  },
  'workflow.completed': {
    meaning: 'all steps succeeded',
    payload: z.strictObject({ ...run, steps: count, duration_ms: count }),
    subject,
  },
  'workflow.failed': {
    meaning: 'unrecoverable error',
    payload: z.strictObject({ ...run, failed_step: text, error: text }),
    subject,
  },
} as const satisfies Record<string, EventDefinition>;
