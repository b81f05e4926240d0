export { describeEventTypes } from './describe-event-types.js';
export { type EventsQuery, getEvent, listEvents } from './find-events.js';
export { sweepEvents } from './sweep-events.js';
