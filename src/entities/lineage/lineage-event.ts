import { BigIntType, OptionalProps } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject, GraphQLSafeInt, GraphQLUUID } from 'graphql-scalars';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { Masked } from '../masked.js';
import { organizationFilter, workspaceFilter } from '../tenancy.js';

export const LineageEventType = {
  START: 'START',
  RUNNING: 'RUNNING',
  COMPLETE: 'COMPLETE',
  FAIL: 'FAIL',
  ABORT: 'ABORT',
} as const;
export type LineageEventType = (typeof LineageEventType)[keyof typeof LineageEventType];
registerEnumType(LineageEventType, {
  name: 'LineageEventType',
  description: 'OpenLineage 2-0-2, eventType.',
});

/** One of each type for a run, however often its worker says so. */
@Entity()
@Filter(organizationFilter)
@Filter(workspaceFilter)
@ObjectType({ description: 'An OpenLineage event of a run.' })
@Unique({ properties: ['runId', 'eventType'] })
@Index({ properties: ['workspaceId', 'id'] })
@Index({
  name: 'lineage_event_unposted',
  expression: `create index "lineage_event_unposted" on "lineage_event" ("id") where "posted_at" is null`,
})
export class LineageEvent {
  [OptionalProps]?: 'attempts' | 'id';

  @PrimaryKey({ type: new BigIntType('number'), autoincrement: true })
  @Field(() => GraphQLSafeInt)
  id!: number;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'uuid' })
  workspaceId!: string;

  @Property({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  runId!: string;

  @Property({ type: 'text' })
  @Field(() => LineageEventType)
  eventType!: LineageEventType;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  eventTime!: Date;

  @Property({ type: 'json' })
  @Field(() => GraphQLJSONObject, { description: 'The event itself, OpenLineage 2-0-2.' })
  @Masked('always')
  event!: Record<string, unknown>;

  /** When OPENLINEAGE_URL took it, it was given up, or, without a URL, it was made. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  postedAt: Date | null = null;

  @Property({ type: 'integer', default: 0 })
  attempts: number = 0;
}
