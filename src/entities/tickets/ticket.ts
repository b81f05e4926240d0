import { OptionalProps } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property, Trigger, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';
import {
  HoldReason,
  TicketLevel,
  TicketPriority,
  TicketSource,
  TicketStatus,
  TicketType,
} from './ticket-enums.js';
import { ticketTotalTrigger } from './ticket-total.js';

/** Spread it: MikroORM writes into the object it is given. */
const timestamp = { type: 'datetime', columnType: 'timestamptz(3)' } as const;

@Entity()
@Filter(organizationFilter)
@ObjectType({ description: 'ITSM document, Ticket.' })
@Unique({ properties: ['organizationId', 'number'] })
@Index({ properties: ['organizationId', 'createdAt', 'id'] })
@Index({ properties: ['organizationId', 'updatedAt', 'id'] })
@Index({ properties: ['organizationId', 'priorityRank', 'id'] })
@Index({ properties: ['organizationId', 'title', 'id'] })
@Index({ properties: ['organizationId', 'status', 'id'] })
@Index({
  name: 'ticket_due_asc',
  expression: `create index "ticket_due_asc" on "ticket" ("organization_id", (coalesce("resolution_due_at", 'infinity'::timestamptz)), "id")`,
})
@Index({
  name: 'ticket_due_desc',
  expression: `create index "ticket_due_desc" on "ticket" ("organization_id", (coalesce("resolution_due_at", '-infinity'::timestamptz)), "id")`,
})
@Index({ properties: ['organizationId', 'status', 'createdAt', 'id'] })
@Index({ properties: ['organizationId', 'requesterId', 'createdAt', 'id'] })
@Index({ properties: ['organizationId', 'assigneeId', 'createdAt', 'id'] })
@Index({ properties: ['organizationId', 'teamId', 'createdAt', 'id'] })
@Index({ properties: ['organizationId', 'category', 'createdAt', 'id'] })
@Index({ properties: ['organizationId', 'type', 'createdAt', 'id'] })
@Index({ properties: ['organizationId', 'priority', 'createdAt', 'id'] })
@Index({ properties: ['tags'], type: 'gin' })
@Index({ properties: ['searchText'], type: 'gin' })
@Trigger({
  name: 'ticket_total',
  timing: 'after',
  events: ['insert', 'update', 'delete'],
  forEach: 'row',
  body: ticketTotalTrigger,
})
export class Ticket {
  [OptionalProps]?: 'customFields' | 'externalRefs' | 'priorityRank' | 'searchText' | 'tags' | 'version';

  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  @Field(() => ID)
  organizationId!: string;

  @Property({ type: 'integer' })
  @Field(() => Int, { description: 'Counts up within the organization.' })
  number!: number;

  @Property({ type: 'text' })
  @Field(() => String)
  title!: string;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  description: string | null = null;

  @Property({ type: 'text' })
  @Field(() => TicketStatus)
  status!: TicketStatus;

  @Property({ type: 'text', nullable: true })
  @Field(() => HoldReason, { nullable: true })
  holdReason: HoldReason | null = null;

  @Property({ type: 'text' })
  @Field(() => TicketPriority)
  priority!: TicketPriority;

  /** Sorting by priority goes by rank, not by alphabet. */
  @Property({
    type: 'smallint',
    generated: `(case "priority" when 'critical' then 4 when 'high' then 3 when 'medium' then 2 else 1 end) stored`,
    hidden: true,
  })
  priorityRank!: number;

  @Property({ type: 'text', nullable: true })
  @Field(() => TicketLevel, { nullable: true })
  impact: TicketLevel | null = null;

  @Property({ type: 'text', nullable: true })
  @Field(() => TicketLevel, { nullable: true })
  urgency: TicketLevel | null = null;

  @Property({ type: 'text' })
  @Field(() => TicketType)
  type!: TicketType;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  category: string | null = null;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  subcategory: string | null = null;

  @Property({ type: 'array', default: [] })
  @Field(() => [String])
  tags: string[] = [];

  @Property({ type: 'json', default: '{}' })
  @Field(() => GraphQLJSONObject)
  customFields: Record<string, unknown> = {};

  @Property({ type: 'text' })
  @Field(() => ID)
  requesterId!: string;

  @Property({ type: 'text', nullable: true })
  @Field(() => ID, { nullable: true })
  assigneeId: string | null = null;

  @Property({ type: 'text', nullable: true })
  @Field(() => ID, { nullable: true })
  teamId: string | null = null;

  @Property({ type: 'text' })
  @Field(() => TicketSource)
  source!: TicketSource;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  resolution: string | null = null;

  @Property({ type: 'array', default: [] })
  @Field(() => [String])
  externalRefs: string[] = [];

  @Property({ ...timestamp, nullable: true })
  resolutionDueAt: Date | null = null;

  @Property({
    columnType: 'tsvector',
    type: 'text',
    generated: `(to_tsvector('simple'::regconfig, "title" || ' ' || coalesce("description", ''))) stored`,
    hidden: true,
    lazy: true,
  })
  searchText!: string;

  @Property({ ...timestamp })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Property({ ...timestamp })
  @Field(() => GraphQLDateTime)
  updatedAt!: Date;

  @Property({ ...timestamp, nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true })
  resolvedAt: Date | null = null;

  @Property({ ...timestamp, nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true })
  closedAt: Date | null = null;

  @Property({ type: 'integer', version: true })
  @Field(() => Int, { description: 'Goes up by one with each change.' })
  version: number = 1;
}
