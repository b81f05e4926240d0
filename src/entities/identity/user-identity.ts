import { Entity, Filter, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

@Entity()
@Filter(organizationFilter)
@Unique({ properties: ['issuer', 'subject'] })
@ObjectType({ description: 'A subject of the OIDC issuer that belongs to a user: one person on both sides.' })
export class UserIdentity {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Index()
  @Field(() => ID)
  userId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  issuer!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  subject!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}
