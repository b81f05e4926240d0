import { OptionalProps } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject, GraphQLUUID } from 'graphql-scalars';
import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { Masked } from '../masked.js';
import { organizationFilter, workspaceFilter } from '../tenancy.js';

export const PipelineStatus = {
  DRAFT: 'DRAFT',
  SCHEDULED: 'SCHEDULED',
  RUNNING: 'RUNNING',
  SUCCESS: 'SUCCESS',
  FAILED: 'FAILED',
  WARNING: 'WARNING',
  CANCELLED: 'CANCELLED',
} as const;
export type PipelineStatus = (typeof PipelineStatus)[keyof typeof PipelineStatus];
registerEnumType(PipelineStatus, {
  name: 'PipelineStatus',
  description: 'Mirrors the last run; DRAFT until the first.',
});

export const LifecycleStage = {
  DRAFT: 'DRAFT',
  VALIDATED: 'VALIDATED',
  SCHEDULED: 'SCHEDULED',
  ACTIVE: 'ACTIVE',
  DEPRECATED: 'DEPRECATED',
  RETIRED: 'RETIRED',
} as const;
export type LifecycleStage = (typeof LifecycleStage)[keyof typeof LifecycleStage];
registerEnumType(LifecycleStage, {
  name: 'LifecycleStage',
  description: 'How far the definition has come, whatever its runs did. A RETIRED pipeline does not run.',
});

@Entity()
@Filter(organizationFilter)
@Filter(workspaceFilter)
@ObjectType({ description: 'Platform document, Pipeline.' })
@Index({ properties: ['workspaceId', 'createdAt', 'id'] })
export class Pipeline {
  [OptionalProps]?:
    | 'isActive'
    | 'lifecycleStage'
    | 'maxRetries'
    | 'retryDelaySeconds'
    | 'status'
    | 'tags'
    | 'timeoutSeconds'
    | 'version';

  @PrimaryKey({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  workspaceId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  @Masked('config')
  name!: string;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  @Masked('config')
  description: string | null = null;

  @Property({ type: 'text' })
  @Field(() => String)
  @Masked('config')
  yamlDefinition!: string;

  @Property({ type: 'integer' })
  @Field(() => Int, { description: 'Starts at 1; every update adds one and stores a revision.' })
  version: number = 1;

  @Property({ type: 'text' })
  @Field(() => PipelineStatus)
  status: PipelineStatus = 'DRAFT';

  @Property({ type: 'text', default: 'DRAFT' })
  @Field(() => LifecycleStage)
  lifecycleStage: LifecycleStage = 'DRAFT';

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  @Masked('config')
  scheduleCron: string | null = null;

  @Property({ type: 'array', default: [] })
  @Field(() => [String])
  @Masked('config')
  tags: string[] = [];

  @Property({ type: 'uuid', nullable: true })
  @Field(() => GraphQLUUID, { nullable: true })
  sourceConnectionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  @Field(() => GraphQLUUID, { nullable: true })
  targetConnectionId: string | null = null;

  @Property({ type: 'integer', default: 3 })
  @Field(() => Int, { description: 'Attempts of a task are maxRetries + 1.' })
  maxRetries: number = 3;

  @Property({ type: 'integer', default: 60 })
  @Field(() => Int)
  retryDelaySeconds: number = 60;

  @Property({ type: 'integer', default: 3600 })
  @Field(() => Int)
  timeoutSeconds: number = 3600;

  @Property({ type: 'json', nullable: true })
  @Field(() => GraphQLJSONObject, { nullable: true })
  @Masked('config')
  notifications: Record<string, unknown> | null = null;

  @Property({ type: 'boolean', default: true })
  @Field(() => Boolean)
  isActive: boolean = true;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  updatedAt!: Date;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'The sub of the token it was created with.' })
  @Masked('never')
  createdBy!: string;
}
