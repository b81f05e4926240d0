import { z } from 'zod';
import type { EventDefinition } from './event-definition.js';
import { id, text, timestamp } from './fields.js';

const subject = 'id';
const change = { id, title: text, risk_level: z.enum(['low', 'medium', 'high', 'critical']) };

export const changeEvents = {
  'change.submitted': {
    meaning: 'change request submitted for review',
    payload: z.strictObject({
      ...change,
      type: z.enum(['normal', 'standard', 'emergency']),
      submitted_by: id,
      approvers: z.array(id),
    }),
    subject,
  },
  'change.approved': {
    meaning: 'approved by the required approvers',
    // Null for a change that was approved before anybody chose its time.
    payload: z.strictObject({ ...change, approved_by: z.array(id), scheduled_at: timestamp.nullable() }),
    subject,
  },
  'change.rejected': {
    meaning: 'rejected',
    payload: z.strictObject({ ...change, rejected_by: id, comment: text.nullable() }),
    subject,
  },
  'change.implemented': {
    meaning: 'implemented in production',
    payload: z.strictObject({ ...change, implemented_by: id, implemented_at: timestamp }),
    subject,
  },
} as const satisfies Record<string, EventDefinition>;
