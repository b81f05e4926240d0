import { BigIntType, OptionalProps } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject, GraphQLSafeInt, GraphQLUUID } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import { Masked } from '../masked.js';
import { organizationFilter, workspaceFilter } from '../tenancy.js';
import { DEFAULT_PRIORITY, RunEngine, type RunState } from './run-enums.js';

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

/** How far an incremental source was read, and what it read. */
export interface RunWatermark {
  value: string;
  source: string;
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
  name: 'run_ended',
  expression: `create index "run_ended" on "run" ("finished_at") where "finished_at" is not null`,
})
@Index({
  name: 'run_waiting',
  expression: `create index "run_waiting" on "run" ("priority" desc, "created_at", "id") where "state" = 'QUEUED' and "started_at" is null`,
})
@Index({
  name: 'run_active',
  expression: `create index "run_active" on "run" ("lease_until") where "state" in ('QUEUED', 'RUNNING', 'HEALING') and "started_at" is not null`,
})
export class Run {
  [OptionalProps]?:
    | 'attempts'
    | 'healing'
    | 'isExclusive'
    | 'lastSeq'
    | 'losses'
    | 'parameters'
    | 'priority'
    | 'rowsRead'
    | 'rowsWritten'
    | 'state'
    | 'watermarks';

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

  /** A place in RUN_PRIORITIES: of the runs that wait, the greater goes first. */
  @Property({ type: 'smallint', default: DEFAULT_PRIORITY })
  priority: number = DEFAULT_PRIORITY;

  /** It reads on where the last such run of its pipeline stopped, so no two of them may run at once. */
  @Property({ type: 'boolean', default: false })
  isExclusive: boolean = false;

  /** Where the incremental sources of an exclusive run begin, by task id; set once, when a worker first takes it up. */
  @Property({ type: 'json', nullable: true })
  watermarks: Record<string, RunWatermark> | null = null;

  /** The run whose failed tasks this one does again; a run is retried once, and then its retry may be. */
  @Property({ type: 'uuid', nullable: true, unique: true })
  @Field(() => GraphQLUUID, {
    nullable: true,
    description: 'The run whose failed tasks this one does again.',
  })
  retryOf: string | null = null;

  /** The first run of a chain of retries: under its id targets remember what was written. */
  @Property({ type: 'uuid', nullable: true })
  firstRunId: string | null = null;

  /** What `schedule.date` is the date of; the start of the run when absent. */
  @Property({ ...timestamp, nullable: true })
  logicalTime: Date | null = null;

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

  /** Workers that went silent with it, since a task was last finished. */
  @Property({ type: 'smallint', default: 0 })
  losses: number = 0;

  @Property({ ...timestamp, nullable: true })
  cancelRequestedAt: Date | null = null;

  /** Number of the last message; taken under the row's lock, so that numbers become visible in order. */
  @Property({ type: 'integer', default: 0 })
  lastSeq: number = 0;

  @Property({ type: new BigIntType('number'), default: 0, nullable: true })
  @Field(() => GraphQLSafeInt, {
    nullable: true,
    description: 'Rows that the sources gave; null where those of one were not counted.',
  })
  rowsRead: number | null = 0;

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
