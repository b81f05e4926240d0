import type { ObjectQuery } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { Event } from '../../entities/events/event.js';
import { invalidField, notFound } from '../../errors.js';
import { isEventType } from '../../events/catalogue.js';
import { listRows } from '../list-rows.js';
import type { Page, PageRequest, SortOrder } from '../page.js';
import { readableEvents } from './readable-events.js';

export interface EventsQuery extends PageRequest {
  /** Absent or empty means all of them. */
  types?: readonly string[] | null | undefined;
  /** The seq of the last event seen: only what came later. */
  after?: number | null | undefined;
  sortOrder?: SortOrder | null | undefined;
}

/**
 * The log in the order of its numbers. Whoever follows it from a number asks for the oldest first.
 * @throws VALIDATION_ERROR
 */
export function listEvents(context: RequestContext, query: EventsQuery): Promise<Page<Event>> {
  const { after, sortOrder } = query;
  const types = query.types ?? [];
  const unknown = types.findIndex((type) => !isEventType(type));
  if (unknown >= 0) throw invalidField(`types.${unknown}`, 'isIn', 'types must be types of events');
  if (after != null && after < 0) throw invalidField('after', 'min', 'after must not be less than 0');
  const filters: ObjectQuery<Event>[] = [];
  if (types.length > 0) filters.push({ type: { $in: [...types] } });
  if (after != null) filters.push({ seq: { $gt: after } });
  return listRows(
    context.em,
    {
      entity: Event,
      prefix: 'evt',
      visible: readableEvents(context),
      filters,
      sort: { property: 'seq', column: 'seq' },
      order: sortOrder ?? 'desc',
    },
    query,
  );
}

/** @throws NOT_FOUND, also for one that is older than 30 days */
export async function getEvent(context: RequestContext, id: string): Promise<Event> {
  const event = await context.em.fork().findOne(Event, { $and: [{ id }, readableEvents(context)] });
  if (!event) throw notFound('event', id);
  return event;
}
