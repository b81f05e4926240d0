import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { describeEventTypes, getEvent, listEvents } from '../../domain/events/index.js';
import { Event } from '../../entities/events/event.js';
import { Permission } from '../permission.js';
import { EventPage, EventsArgs, EventTypeInfo } from './event-types.js';

@Resolver(() => Event)
export class EventResolver {
  @Query(() => EventPage, { description: 'The event log of the organization, 30 days back.' })
  @Permission({ itsm: 'events:read:all' })
  events(@Ctx() context: RequestContext, @Args(() => EventsArgs) query: EventsArgs): Promise<EventPage> {
    return listEvents(context, query);
  }

  @Query(() => Event)
  @Permission({ itsm: 'events:read:all' })
  event(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<Event> {
    return getEvent(context, id);
  }

  @Query(() => [EventTypeInfo], { description: 'The catalogue: every type there is.' })
  @Permission({ itsm: 'events:read:own' })
  eventTypes(): EventTypeInfo[] {
    return describeEventTypes();
  }
}
