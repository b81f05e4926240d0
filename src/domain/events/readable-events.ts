import type { ObjectQuery } from '@mikro-orm/core';
import { type ItsmPrincipal, itsmCaller, type RequestContext } from '../../context.js';
import type { Event } from '../../entities/events/event.js';
import { implies } from '../identity/index.js';

const DAY_MS = 24 * 3_600_000;

/** How far back the log is read. */
const EVENTS_READABLE_MS = 30 * DAY_MS;
/** A day longer, so that nothing goes while somebody reads or replays it. */
export const EVENTS_KEPT_MS = 31 * DAY_MS;

/** What of the log a caller may read: numbered, 30 days old at most, and no internal comments unless they read those. */
export function readableEvents(context: RequestContext): ObjectQuery<Event> {
  const caller = itsmCaller(context);
  return {
    organizationId: caller.organizationId,
    seq: { $ne: null },
    timestamp: { $gt: new Date(context.services.now().getTime() - EVENTS_READABLE_MS) },
    ...(readsInternalComments(caller) ? {} : { $not: internalComment }),
  };
}

const internalComment: ObjectQuery<Event> = { type: 'comment.added', payload: { visibility: 'internal' } };

/** A reader of single teams' comments is not taken to read every one. */
function readsInternalComments({ permissions }: ItsmPrincipal): boolean {
  return implies(permissions, 'comments:read:all');
}
