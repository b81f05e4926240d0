import { BigIntType, OptionalProps } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject, GraphQLSafeInt, GraphQLUUID } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import { Masked } from '../masked.js';
import { organizationFilter, workspaceFilter } from '../tenancy.js';
import { RunEngine, type RunState } from './run-enums.js';

/** One recovery of a task: what was done, why, and how it ended. */
@ObjectType()
export class RunHealing {
  @Field(() => String)
  @Masked('never')
  taskId!: string;

  @Field(() => String)
  @Masked('never')
  strategy!: string;

  @Field(() => String)
  @Masked('always')
  reason!: string;

  @Field(() => Int, { description: 'The attempt that failed, from 1.' })
  attempt!: number;

  @Field(() => String, { description: 'SUCCESS or FAILED.' })
  @Masked('never')
  outcome!: string;
}

/** Spread it: MikroORM writes into the object it is given. */
const timestamp = { type: 'datetime', columnType: 'timestamptz(3)' } as const;

/** The row is the truth: a worker holds it by a lease, and any worker may take it over when the lease has run out. */
@Entity()
@Filter(organizationFilter)
@Filter(workspaceFilter)
@ObjectType({ description: 'One execution of a pipeline definition.' })
@Index({ properties: ['workspaceId', 'createdAt', 'id'] })
@Index({ properties: ['pipelineId', 'createdAt', 'id'] })
@Index({
  name: 'run_unfinished',
  expression: `create index "run_unfinished" on "run" ("lease_until") where "state" in ('QUEUED', 'RUNNING', 'HEALING')`,
})
export class Run {
  [OptionalProps]?: 'attempts' | 'healing' | 'parameters' | 'lastSeq' | 'rowsRead' | 'rowsWritten' | 'state';

  @PrimaryKey({ type: 'uuid' })
  @Field(() => GraphQLUUID, { name: 'runId' })
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  workspaceId!: string;

  @Property({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  pipelineId!: string;

  @Property({ type: 'integer' })
  @Field(() => Int)
  pipelineVersion!: number;

  /** The text this run executes, which the run request may have replaced for this run alone. */
  @Property({ type: 'text' })
  yamlDefinition!: string;

  /** As the run request gave them, checked; defaults are put in when the definition is bound. */
  @Property({ type: 'json', default: '{}' })
  @Field(() => GraphQLJSONObject, { description: "The run request's parameters, by id." })
  @Masked('always')
  parameters: Record<string, unknown> = {};

  @Property({ type: 'text' })
  state: RunState = 'QUEUED';

  @Property({ type: 'text' })
  @Field(() => RunEngine)
  engine!: RunEngine;

  @Property({ type: 'integer' })
  @Field(() => Int)
  taskCount!: number;

  @Property({ type: 'text' })
  @Field(() => String)
  @Masked('always')
  triggeredBy!: string;

  /** Why it is FAILED, in a sentence. */
  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  @Masked('always')
  error: string | null = null;

  @Property({ type: 'text', nullable: true })
  leaseOwner: string | null = null;

  @Property({ ...timestamp, nullable: true })
  leaseUntil: Date | null = null;

  /** How often a worker took it up. */
  @Property({ type: 'integer', default: 0 })
  @Field(() => Int)
  attempts: number = 0;

  @Property({ ...timestamp, nullable: true })
  cancelRequestedAt: Date | null = null;

  /** Number of the last message; taken under the row's lock, so that numbers become visible in order. */
  @Property({ type: 'integer', default: 0 })
  lastSeq: number = 0;

  @Property({ type: new BigIntType('number'), default: 0 })
  @Field(() => GraphQLSafeInt, { description: 'Rows that the sources gave.' })
  rowsRead: number = 0;

  @Property({ type: new BigIntType('number'), default: 0 })
  @Field(() => GraphQLSafeInt, { description: 'Rows that the targets took.' })
  rowsWritten: number = 0;

  @Property({ type: 'json', default: '[]' })
  @Field(() => [RunHealing])
  healing: RunHealing[] = [];

  @Property({ ...timestamp })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Property({ ...timestamp, nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true })
  startedAt: Date | null = null;

  @Property({ ...timestamp, nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true })
  finishedAt: Date | null = null;
}
