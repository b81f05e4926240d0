import { Entity, Filter, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLUUID } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import { Masked } from '../masked.js';
import { organizationFilter, workspaceFilter } from '../tenancy.js';

@Entity()
@Filter(organizationFilter)
@Filter(workspaceFilter)
@ObjectType({ description: 'What a pipeline was at one version.' })
export class PipelineRevision {
  @PrimaryKey({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  pipelineId!: string;

  @PrimaryKey({ type: 'integer' })
  @Field(() => Int)
  version!: number;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'uuid' })
  workspaceId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  @Masked('config')
  yamlDefinition!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  @Masked('never')
  author!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  @Masked('config')
  message!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}
