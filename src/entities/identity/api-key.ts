import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

@Entity()
@Filter(organizationFilter)
@ObjectType({ description: 'ITSM document, API key: what a server sends as X-API-Key instead of a token.' })
export class ApiKey {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  @Index()
  organizationId!: string;

  /** The key acts in this user's name: `own` and `team` are theirs, and it can do no more than they can. */
  @Property({ type: 'text' })
  @Index()
  @Field(() => ID)
  createdById!: string;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'What it is for.' })
  name!: string;

  /** SHA-256 of the key: of 160 random bits nothing is found by guessing, so that a slow hash would only slow us. */
  @Property({ type: 'text', unique: true, hidden: true })
  hash!: string;

  @Property({ type: 'array', default: [] })
  @Field(() => [String], { description: 'resource:action:scope' })
  permissions!: string[];

  @Property({ type: 'int' })
  @Field(() => Int)
  rateLimitPerMinute!: number;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true, description: 'Null means no expiry.' })
  expiresAt: Date | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true, description: 'To the minute.' })
  lastUsedAt: Date | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}
