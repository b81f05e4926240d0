import { z } from 'zod';
import type { EventDefinition } from './event-definition.js';
import {
  actor,
  changes,
  id,
  ticketPriority as priority,
  ticketStatus as status,
  text,
  timestamp,
  ticketType as type,
} from './fields.js';

const subject = 'id';

export const ticketEvents = {
  'ticket.created': {
    meaning: 'ticket created manually or by an integration',
    payload: z.strictObject({ id, title: text, status, priority, type }),
    subject,
  },
  'ticket.updated': {
    meaning: 'title, description, priority, type or custom fields changed',
    payload: z.strictObject({ id, title: text, status, priority, type, changes, actor }),
    subject,
  },
  'ticket.status_changed': {
    meaning: 'status moved',
    payload: z.strictObject({ id, title: text, from: status, to: status, actor }),
    subject,
  },
  'ticket.assigned': {
    meaning: 'assigned or reassigned to an agent or team',
    payload: z.strictObject({
      id,
      title: text,
      assignee_id: id.nullable(),
      team_id: id.nullable(),
      previous_assignee_id: id.nullable(),
      previous_team_id: id.nullable(),
      actor,
    }),
    subject,
  },
  'ticket.resolved': {
    meaning: 'marked resolved',
    payload: z.strictObject({ id, title: text, resolution: text.nullable(), resolved_at: timestamp, actor }),
    subject,
  },
  'ticket.closed': {
    meaning: 'closed after resolution confirmation',
    payload: z.strictObject({ id, title: text, reason: text.nullable(), closed_at: timestamp, actor }),
    subject,
  },
} as const satisfies Record<string, EventDefinition>;
