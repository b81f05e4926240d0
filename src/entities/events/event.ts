import { BigIntType, type Opt } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

/**
 * Outbox and event log in one table. A row is written in the transaction of the change it tells of, without a number;
 * the sequencer numbers committed rows afterwards. A number taken inside the transaction could become visible after a
 * higher one, and a reader at "last seen" would miss it.
 */
@Entity()
@Filter(organizationFilter)
@ObjectType({ description: 'ITSM document, Event envelope.' })
@Index({ properties: ['organizationId', 'seq'] })
@Index({
  name: 'event_age',
  expression: 'create index "event_age" on "event" using brin ("timestamp")',
})
@Index({
  name: 'event_unsequenced',
  expression: 'create index "event_unsequenced" on "event" ("position") where "seq" is null',
})
export class Event {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  /**
   * Order of insertion, given by the database: of two transactions that changed the same row the later one has the
   * higher position, whatever the clocks of their nodes say. It breaks ties for the sequencer and is nobody else's.
   */
  @Property({ type: new BigIntType('number'), autoincrement: true, hidden: true })
  position!: Opt<number>;

  @Property({ type: new BigIntType('number'), nullable: true, unique: true })
  @Field(() => GraphQLSafeInt, { description: 'Position in the log; pass it on to resume after it.' })
  seq: number | null = null;

  @Property({ type: 'text' })
  @Field(() => ID)
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  type!: string;

  /** The ticket, change, user ... it tells of; readers filter by it. */
  @Property({ type: 'text' })
  subjectId!: string;

  @Property({ type: 'json' })
  @Field(() => GraphQLJSONObject)
  payload!: Record<string, unknown>;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  timestamp!: Date;
}
