import type { Opt } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';

@Entity()
@ObjectType({ description: 'A tenant: every ITSM record belongs to exactly one.' })
export class Organization {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text', unique: true })
  @Field(() => String)
  slug!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  /** The organization's own notes to its clients; nothing here reads them. */
  @Property({ type: 'json', default: '{}' })
  @Field(() => GraphQLJSONObject)
  settings: Opt<Record<string, unknown>> = {};

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}
