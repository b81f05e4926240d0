import { Entity, Filter, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

@Entity()
@Filter(organizationFilter)
@ObjectType()
@Unique({ properties: ['organizationId', 'name'] })
export class Team {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  @Field(() => ID)
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}
