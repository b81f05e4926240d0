import { z } from 'zod';
import type { EventDefinition } from './event-definition.js';
import { count, id, text, timestamp } from './fields.js';

const subject = 'connector_id';
const connector = {
  connector_id: id,
  kind: z.enum(['jira', 'servicenow', 'zendesk', 'freshservice', 'github', 'generic_http']),
};

export const connectorEvents = {
  'connector.synced': {
    meaning: 'external connector finished a sync cycle',
    payload: z.strictObject({
      ...connector,
      direction: z.enum(['inbound', 'outbound', 'bidirectional']),
      created: count,
      updated: count,
      skipped: count,
      failed: count,
      duration_ms: count,
    }),
    subject,
  },
  'connector.error': {
    meaning: 'external connector failed during sync',
    payload: z.strictObject({
      ...connector,
      error: text,
      attempt: z.int().min(1),
      next_attempt_at: timestamp.nullable(),
    }),
    subject,
  },
} as const satisfies Record<string, EventDefinition>;
