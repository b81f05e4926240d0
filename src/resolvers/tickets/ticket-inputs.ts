import { GraphQLDateTime, GraphQLJSONObject } from 'graphql-scalars';
import { ArgsType, Field, ID, InputType, Int, registerEnumType } from 'type-graphql';
import type { SortOrder } from '../../domain/page.js';
import { type TicketSortField, ticketSortFields } from '../../domain/tickets/index.js';
import {
  HoldReason,
  TicketLevel,
  TicketPriority,
  TicketStatus,
  TicketType,
} from '../../entities/tickets/ticket-enums.js';
import { Order } from '../page.js';

const TicketSort = Object.fromEntries(ticketSortFields.map((field) => [field, field]));
registerEnumType(TicketSort, {
  name: 'TicketSortField',
  description: 'priority goes by rank; tickets without a due time come last.',
});

@InputType({ description: 'Several values of one field mean any of them; the fields all count.' })
export class TicketFilterInput {
  @Field(() => [TicketStatus], { nullable: true })
  status?: TicketStatus[] | null;

  @Field(() => [TicketPriority], { nullable: true })
  priority?: TicketPriority[] | null;

  @Field(() => [TicketType], { nullable: true })
  type?: TicketType[] | null;

  @Field(() => [ID], { nullable: true })
  assigneeId?: string[] | null;

  @Field(() => [ID], { nullable: true })
  teamId?: string[] | null;

  @Field(() => [ID], { nullable: true })
  requesterId?: string[] | null;

  @Field(() => [String], { nullable: true })
  category?: string[] | null;

  @Field(() => [String], { nullable: true })
  tag?: string[] | null;

  @Field(() => String, {
    nullable: true,
    description: 'Full text over title and description: words, "a phrase", or, -not.',
  })
  q?: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  createdAfter?: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  createdBefore?: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  updatedAfter?: Date | null;
}

@ArgsType()
export class TicketsArgs {
  @Field(() => TicketFilterInput, { nullable: true })
  filter?: TicketFilterInput | null;

  @Field(() => Int, { nullable: true, description: 'From 1. Not together with a cursor.' })
  page?: number | null;

  @Field(() => Int, { nullable: true, description: '1 to 1000, 25 when absent.' })
  limit?: number | null;

  @Field(() => TicketSort, { nullable: true, description: 'createdAt when absent.' })
  sortBy?: TicketSortField | null;

  @Field(() => Order, { nullable: true, description: 'desc when absent.' })
  sortOrder?: SortOrder | null;

  @Field(() => ID, { nullable: true, description: 'The last ticket already seen.' })
  startingAfter?: string | null;

  @Field(() => ID, { nullable: true, description: 'The first ticket already seen.' })
  endingBefore?: string | null;
}

/** What a ticket can be given at its creation and later. */
@InputType()
abstract class TicketInput {
  @Field(() => String, { nullable: true, description: 'At most 65,536 characters.' })
  description?: string | null;

  @Field(() => TicketType, { nullable: true })
  type?: TicketType;

  @Field(() => TicketPriority, { nullable: true, description: 'From impact and urgency when absent.' })
  priority?: TicketPriority;

  @Field(() => TicketLevel, { nullable: true })
  impact?: TicketLevel | null;

  @Field(() => TicketLevel, { nullable: true })
  urgency?: TicketLevel | null;

  @Field(() => String, { nullable: true })
  category?: string | null;

  @Field(() => String, { nullable: true })
  subcategory?: string | null;

  @Field(() => ID, { nullable: true, description: 'The caller when absent.' })
  requesterId?: string;

  @Field(() => ID, { nullable: true })
  assigneeId?: string | null;

  @Field(() => ID, { nullable: true })
  teamId?: string | null;

  @Field(() => [String], { nullable: true, description: 'At most 50 of 64 characters.' })
  tags?: string[];

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'At most 32 KiB as JSON; replaced as a whole.',
  })
  customFields?: Record<string, unknown>;
}

@InputType()
export class CreateTicketInput extends TicketInput {
  @Field(() => String, { description: '1 to 255 characters, not blank.' })
  title!: string;
}

@InputType({ description: 'What is absent stays as it is, null clears.' })
export class UpdateTicketInput extends TicketInput {
  @Field(() => String, { nullable: true })
  title?: string;

  @Field(() => TicketStatus, { nullable: true })
  status?: TicketStatus;

  @Field(() => HoldReason, { nullable: true, description: 'Goes with on_hold, which needs it.' })
  holdReason?: HoldReason | null;

  @Field(() => String, { nullable: true, description: 'Goes with resolved and closed.' })
  resolution?: string | null;
}
