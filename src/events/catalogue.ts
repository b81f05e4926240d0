import { z } from 'zod';
import { UserRole } from '../entities/identity/user.js';
import { TicketPriority, TicketStatus, TicketType } from '../entities/tickets/ticket-enums.js';

const id = z.string().min(1);
const timestamp = z.iso.datetime();

const actor = z.strictObject({ id, type: z.enum(['user', 'api_key', 'system', 'connector']) });
const changes = z.array(z.strictObject({ field: z.string(), from: z.json(), to: z.json() })).min(1);

const status = z.enum(TicketStatus);
const priority = z.enum(TicketPriority);
const type = z.enum(TicketType);

/**
 * Every type of event and the exact fields of its payload (ITSM document, Payload shapes; snake_case, because payloads
 * leave the system as they are written here). A new type is one more row.
 */
const catalogue = {
  'ticket.created': z.strictObject({ id, title: z.string(), status, priority, type }),
  'ticket.updated': z.strictObject({ id, title: z.string(), status, priority, type, changes, actor }),
  'ticket.status_changed': z.strictObject({ id, title: z.string(), from: status, to: status, actor }),
  'ticket.assigned': z.strictObject({
    id,
    title: z.string(),
    assignee_id: id.nullable(),
    team_id: id.nullable(),
    previous_assignee_id: id.nullable(),
    previous_team_id: id.nullable(),
    actor,
  }),
  'ticket.resolved': z.strictObject({
    id,
    title: z.string(),
    resolution: z.string().nullable(),
    resolved_at: timestamp,
    actor,
  }),
  'ticket.closed': z.strictObject({
    id,
    title: z.string(),
    reason: z.string().nullable(),
    closed_at: timestamp,
    actor,
  }),
  'user.created': z.strictObject({
    id,
    email: z.string(),
    name: z.string(),
    role: z.enum(UserRole),
    /** How the user came: `api`, or the provider that brought them. */
    source: z.string().min(1),
  }),
  'user.updated': z.strictObject({ id, email: z.string(), changes, actor }),
} as const satisfies Record<string, z.ZodObject>;

export type EventType = keyof typeof catalogue;
export type EventPayload<T extends EventType> = z.infer<(typeof catalogue)[T]>;
export type EventActor = z.infer<typeof actor>;

/** An event on its way into the log; type and payload belong together. */
export type NewEvent = {
  [T in EventType]: {
    type: T;
    organizationId: string;
    /** The ticket, change, user ... it tells of. */
    subjectId: string;
    payload: EventPayload<T>;
  };
}[EventType];

export const eventTypes = Object.keys(catalogue) as readonly EventType[];

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(catalogue, type);
}

type TicketEventType = Extract<EventType, `ticket.${string}`>;
type UserEventType = Extract<EventType, `user.${string}`>;

/** The user's own id is the subject. */
export function userEvent<T extends UserEventType>(
  type: T,
  organizationId: string,
  payload: EventPayload<T>,
): NewEvent {
  return { type, organizationId, subjectId: payload.id, payload } as NewEvent;
}

/** The ticket's own id is the subject. */
export function ticketEvent<T extends TicketEventType>(
  type: T,
  organizationId: string,
  payload: EventPayload<T>,
): NewEvent {
  return { type, organizationId, subjectId: payload.id, payload } as NewEvent;
}

/** What is wrong with an event's payload, or undefined; names fields, never values. */
export function eventProblem(event: NewEvent): string | undefined {
  const parsed = catalogue[event.type].safeParse(event.payload);
  if (parsed.success) return undefined;
  const sentences = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`,
  );
  return `${event.type} does not fit the catalogue: ${sentences.join('; ')}`;
}
