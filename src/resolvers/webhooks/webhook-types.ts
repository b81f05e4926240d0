import { GraphQLDateTime } from 'graphql-scalars';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { Webhook } from '../../entities/webhooks/webhook.js';
import { WebhookDelivery, WebhookDeliveryStatus } from '../../entities/webhooks/webhook-delivery.js';
import { PageArgs, PageOf } from '../page.js';

@ObjectType()
export class WebhookPage extends PageOf {
  @Field(() => [Webhook])
  data!: Webhook[];
}

@ObjectType({ description: 'Without a total: there may be millions.' })
export class WebhookDeliveryPage {
  @Field(() => [WebhookDelivery])
  data!: WebhookDelivery[];

  @Field(() => Boolean, { description: 'Whether more lies in the direction of travel.' })
  hasMore!: boolean;
}

@ObjectType({ description: 'A webhook that was just created.' })
export class NewWebhook extends Webhook {
  @Field(() => String, { description: 'HMAC-SHA256 signing secret, shown this once.' })
  secret!: string;
}

@ArgsType()
export class WebhooksArgs extends PageArgs {
  @Field(() => Boolean, { nullable: true })
  active?: boolean | null;
}

@ArgsType()
export class WebhookDeliveriesArgs extends PageArgs {
  @Field(() => ID)
  webhookId!: string;

  @Field(() => WebhookDeliveryStatus, { nullable: true })
  status?: WebhookDeliveryStatus | null;

  @Field(() => String, { nullable: true })
  eventType?: string | null;
}

@InputType()
export class CreateWebhookInput {
  @Field(() => String, { description: 'HTTPS.' })
  url!: string;

  @Field(() => [String], { description: 'Types of events; ["*"] subscribes to all.' })
  events!: string[];

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'True when absent.' })
  active?: boolean | null;
}

@InputType({ description: 'What is absent stays; the secret always does.' })
export class UpdateWebhookInput {
  @Field(() => String, { nullable: true, description: 'HTTPS.' })
  url?: string;

  @Field(() => [String], { nullable: true, description: 'Replaces the whole list.' })
  events?: string[];

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'True starts the count of failures anew.' })
  active?: boolean;
}

@InputType()
export class ReplayInput {
  @Field(() => GraphQLDateTime)
  since!: Date;

  @Field(() => [String], { nullable: true, description: "Only these of the webhook's own types." })
  eventTypes?: string[] | null;
}

@ObjectType()
export class Replayed {
  @Field(() => Int, { description: 'Deliveries queued by this call.' })
  queued!: number;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'Where to go on with another call; null when everything was queued.',
  })
  nextSince!: Date | null;
}
