import { GraphQLSafeInt } from 'graphql-scalars';
import {
  Arg,
  Args,
  Ctx,
  FieldResolver,
  ID,
  Mutation,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import type { RequestContext } from '../../context.js';
import {
  createTicket,
  followTicketEvents,
  getTicket,
  listTickets,
  type TicketEventsQuery,
  updateTicket,
} from '../../domain/tickets/index.js';
import { Event } from '../../entities/events/event.js';
import { Team } from '../../entities/identity/team.js';
import { User } from '../../entities/identity/user.js';
import { Ticket } from '../../entities/tickets/ticket.js';
import { Permission } from '../permission.js';
import { CreateTicketInput, TicketsArgs, UpdateTicketInput } from './ticket-inputs.js';
import { TicketPage } from './ticket-page.js';

@Resolver(() => Ticket)
export class TicketResolver {
  @Query(() => TicketPage)
  @Permission({ itsm: 'tickets:read:own' })
  tickets(@Ctx() context: RequestContext, @Args(() => TicketsArgs) query: TicketsArgs): Promise<TicketPage> {
    return listTickets(context, query);
  }

  @Query(() => Ticket)
  @Permission({ itsm: 'tickets:read:own' })
  ticket(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<Ticket> {
    return getTicket(context, id);
  }

  @Mutation(() => Ticket)
  @Permission({ itsm: 'tickets:create:own' })
  createTicket(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreateTicketInput) input: CreateTicketInput,
  ): Promise<Ticket> {
    return createTicket(context, input);
  }

  @Mutation(() => Ticket, {
    description: 'Requesters change only title and description of their own tickets.',
  })
  @Permission({ itsm: 'tickets:update:own' })
  updateTicket(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateTicketInput) input: UpdateTicketInput,
  ): Promise<Ticket> {
    return updateTicket(context, id, input);
  }

  @Subscription(() => Event, {
    description: 'ticket.* events of the tickets the caller may see: after a number, or from now on.',
    subscribe: ({ args, context }: { args: TicketEventsQuery; context: RequestContext }) =>
      followTicketEvents(context, args) as AsyncIterable<unknown>,
  })
  @Permission({ itsm: 'tickets:read:own' })
  ticketEvents(
    @Root() event: Event,
    @Arg('after', () => GraphQLSafeInt, { nullable: true, description: 'seq of the last event seen.' })
    _after: number | null,
    @Arg('types', () => [String], { nullable: true, description: 'All of them when absent.' })
    _types: string[] | null,
  ): Event {
    return event;
  }

  @FieldResolver(() => User, { nullable: true })
  requester(@Root() ticket: Ticket, @Ctx() { loaders }: RequestContext): Promise<User | null> {
    return loaders.user.load(ticket.requesterId);
  }

  @FieldResolver(() => User, { nullable: true })
  assignee(@Root() ticket: Ticket, @Ctx() { loaders }: RequestContext): Promise<User | null> | null {
    return ticket.assigneeId === null ? null : loaders.user.load(ticket.assigneeId);
  }

  @FieldResolver(() => Team, { nullable: true })
  team(@Root() ticket: Ticket, @Ctx() { loaders }: RequestContext): Promise<Team | null> | null {
    return ticket.teamId === null ? null : loaders.team.load(ticket.teamId);
  }
}
