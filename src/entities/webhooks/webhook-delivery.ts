import { OptionalProps } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';
import { WebhookAttempt } from './webhook-attempt.js';

export const WebhookDeliveryStatus = {
  pending: 'pending',
  delivered: 'delivered',
  failed: 'failed',
} as const;
export type WebhookDeliveryStatus = (typeof WebhookDeliveryStatus)[keyof typeof WebhookDeliveryStatus];
registerEnumType(WebhookDeliveryStatus, { name: 'WebhookDeliveryStatus' });

/** Attempts of a delivery, the first included (ITSM document, Limits). */
export const MAX_DELIVERY_ATTEMPTS = 3;

/** Spread it: MikroORM writes into the object it is given. */
const timestamp = { type: 'datetime', columnType: 'timestamptz(3)' } as const;

/** The row is the truth: a worker holds it by a lease, and any worker may take it over when the lease has run out. */
@Entity()
@Filter(organizationFilter)
@ObjectType({ description: 'ITSM document, Webhook delivery record.' })
@Unique({ properties: ['webhookId', 'eventId', 'generation'] })
@Index({ properties: ['webhookId', 'createdAt', 'id'] })
@Index({
  name: 'webhook_delivery_waiting',
  expression: `create index "webhook_delivery_waiting" on "webhook_delivery" ("webhook_id", "due_at") where "status" = 'pending' and "lease_owner" is null`,
})
@Index({
  name: 'webhook_delivery_leased',
  expression: `create index "webhook_delivery_leased" on "webhook_delivery" ("lease_until") where "lease_owner" is not null`,
})
@Index({
  name: 'webhook_delivery_unsettled',
  expression: `create index "webhook_delivery_unsettled" on "webhook_delivery" ("webhook_id", "status", "created_at", "id") where "status" <> 'delivered'`,
})
@Index({
  name: 'webhook_delivery_age',
  expression: 'create index "webhook_delivery_age" on "webhook_delivery" using brin ("created_at")',
})
export class WebhookDelivery {
  [OptionalProps]?: 'status' | 'attempt' | 'maxAttempts' | 'attempts' | 'isTest' | 'generation';

  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  /** No foreign key: deleting a webhook with a million deliveries must not take longer than another. */
  @Property({ type: 'text' })
  @Field(() => ID)
  webhookId!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => ID)
  eventId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  eventType!: string;

  /** 0 for what the event itself caused; redelivering and replaying count up. */
  @Property({ type: 'integer', default: 0 })
  generation: number = 0;

  @Property({ type: 'text', default: 'pending' })
  @Field(() => WebhookDeliveryStatus)
  status: WebhookDeliveryStatus = 'pending';

  /** The one under way or, between two, the last one; 0 before the first. */
  @Property({ type: 'integer', default: 0 })
  @Field(() => Int, { description: 'Current attempt number; 0 before the first.' })
  attempt: number = 0;

  @Property({ type: 'integer', default: MAX_DELIVERY_ATTEMPTS })
  @Field(() => Int)
  maxAttempts: number = MAX_DELIVERY_ATTEMPTS;

  /** When the next attempt may begin; null when there is none any more. */
  @Property({ ...timestamp, nullable: true })
  dueAt: Date | null = null;

  /** The worker whose attempt is under way. */
  @Property({ type: 'text', nullable: true })
  leaseOwner: string | null = null;

  /** By the database's clock: when another worker may take over. */
  @Property({ ...timestamp, nullable: true, hidden: true })
  leaseUntil: Date | null = null;

  @Property({ type: 'integer', nullable: true })
  @Field(() => Int, { nullable: true, description: 'Of the last attempt; null when nothing answered.' })
  responseCode: number | null = null;

  @Property({ type: 'integer', nullable: true })
  @Field(() => Int, { nullable: true })
  responseTimeMs: number | null = null;

  @Property({ type: 'json', default: '[]' })
  @Field(() => [WebhookAttempt], { description: 'Those that ended.' })
  attempts: WebhookAttempt[] = [];

  @Property({ type: 'boolean', default: false })
  @Field(() => Boolean, { description: 'Sent by the test operation: never retried, never counted.' })
  isTest: boolean = false;

  @Property({ ...timestamp, nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true })
  deliveredAt: Date | null = null;

  @Property({ ...timestamp, nullable: true })
  @Field(() => GraphQLDateTime, { nullable: true })
  failedAt: Date | null = null;

  @Property({ ...timestamp })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;
}
