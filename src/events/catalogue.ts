import { z } from 'zod';
import { changeEvents } from './catalogue/change.js';
import { commentEvents } from './catalogue/comment.js';
import { connectorEvents } from './catalogue/connector.js';
import type { EventDefinition } from './catalogue/event-definition.js';
import type { actor } from './catalogue/fields.js';
import { slaEvents } from './catalogue/sla.js';
import { ticketEvents } from './catalogue/ticket.js';
import { triageEvents } from './catalogue/triage.js';
import { userEvents } from './catalogue/user.js';
import { testEvents } from './catalogue/webhook-test.js';
import { workflowEvents } from './catalogue/workflow.js';

/** The table of the ITSM document, Events, in its order: every type there is. */
const categories = {
  ticket: ticketEvents,
  triage: triageEvents,
  workflow: workflowEvents,
  sla: slaEvents,
  comment: commentEvents,
  change: changeEvents,
  connector: connectorEvents,
  user: userEvents,
  test: testEvents,
} as const satisfies Record<string, Record<string, EventDefinition>>;

const catalogue = {
  ...ticketEvents,
  ...triageEvents,
  ...workflowEvents,
  ...slaEvents,
  ...commentEvents,
  ...changeEvents,
  ...connectorEvents,
  ...userEvents,
  ...testEvents,
} as const;

type Catalogue = typeof catalogue;
export type EventType = keyof Catalogue;
export type EventCategory = keyof typeof categories;
export type EventPayload<T extends EventType> = z.infer<Catalogue[T]['payload']>;
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

/** An event whose subject is what the catalogue's row says. */
export function newEvent<T extends EventType>(
  type: T,
  organizationId: string,
  payload: EventPayload<T>,
): NewEvent {
  const { subject }: EventDefinition = catalogue[type];
  const subjectId = (payload as Record<string, unknown>)[subject];
  return { type, organizationId, subjectId, payload } as NewEvent;
}

/** What is wrong with an event's payload, or undefined; names fields, never values. */
export function eventProblem(event: NewEvent): string | undefined {
  const { payload }: EventDefinition = catalogue[event.type];
  const parsed = payload.safeParse(event.payload);
  if (parsed.success) return undefined;
  const sentences = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`,
  );
  return `${event.type} does not fit the catalogue: ${sentences.join('; ')}`;
}

/** What is told about a type of event. */
export interface EventTypeDescription {
  type: string;
  category: string;
  meaning: string;
  /** JSON Schema 2020-12 of the payload. */
  schema: Record<string, unknown>;
}

/** The whole catalogue as it is published; the same on every node. */
export const eventTypeDescriptions: readonly EventTypeDescription[] = Object.entries(categories).flatMap(
  ([category, types]) =>
    Object.entries(types as Record<string, EventDefinition>).map(([type, { meaning, payload }]) => ({
      type,
      category,
      meaning,
      schema: z.toJSONSchema(payload),
    })),
);
