import { Entity, Filter, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLUUID } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

@Entity()
@Filter(organizationFilter)
@ObjectType({ description: 'The unit of the data platform: pipelines, connections and runs belong to one.' })
@Unique({ properties: ['organizationId', 'slug'] })
export class Workspace {
  @PrimaryKey({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  slug!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;
}
