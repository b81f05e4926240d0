import { OptionalProps } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

/** Spread it: MikroORM writes into the object it is given. */
const timestamp = { type: 'datetime', columnType: 'timestamptz(3)' } as const;

@Entity()
@Filter(organizationFilter)
@ObjectType({ description: 'ITSM document, Webhook.' })
@Index({ properties: ['organizationId', 'createdAt', 'id'] })
export class Webhook {
  [OptionalProps]?: 'active' | 'consecutiveFailures';

  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  @Field(() => ID)
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  url!: string;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  name: string | null = null;

  @Property({ type: 'array' })
  @Field(() => [String], { description: 'Subscribed event types; ["*"] subscribes to all.' })
  events!: string[];

  /** AES-256-GCM; leaves over the API once, when the webhook is created. */
  @Property({ type: 'text', hidden: true })
  sealedSecret!: string;

  @Property({ type: 'boolean', default: true })
  @Field(() => Boolean, { description: 'Enabled and receiving events.' })
  active: boolean = true;

  /** Deliveries in a row that used up their attempts. */
  @Property({ type: 'integer', default: 0 })
  @Field(() => Int, { description: 'Deliveries in a row that used up their attempts; the 11th disables.' })
  consecutiveFailures: number = 0;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true, description: 'Why it was disabled automatically.' })
  disabledReason: string | null = null;

  @Property({ ...timestamp, nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true, description: 'When it was disabled automatically.' })
  disabledAt: Date | null = null;

  /** User id; what its creator may not read, such as internal comments, is not sent. */
  @Property({ type: 'text' })
  @Field(() => ID)
  createdBy!: string;

  @Property({ ...timestamp })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Property({ ...timestamp })
  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}
