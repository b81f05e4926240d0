import { type EventTypeDescription, eventTypeDescriptions } from '../../events/catalogue.js';

export function describeEventTypes(): EventTypeDescription[] {
  return [...eventTypeDescriptions];
}
