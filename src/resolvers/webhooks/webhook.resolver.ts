import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  redeliverToWebhook,
  replayToWebhook,
  testWebhook,
  updateWebhook,
} from '../../domain/webhooks/index.js';
import { Webhook } from '../../entities/webhooks/webhook.js';
import { WebhookDelivery } from '../../entities/webhooks/webhook-delivery.js';
import { Permission } from '../permission.js';
import {
  CreateWebhookInput,
  NewWebhook,
  Replayed,
  ReplayInput,
  UpdateWebhookInput,
  WebhookPage,
  WebhooksArgs,
} from './webhook-types.js';

@Resolver(() => Webhook)
export class WebhookResolver {
  @Query(() => WebhookPage, {
    description: 'The webhooks the caller made, or all of the organization; 10 when no limit is given.',
  })
  @Permission({ itsm: 'webhooks:read:own' })
  webhooks(
    @Ctx() context: RequestContext,
    @Args(() => WebhooksArgs) query: WebhooksArgs,
  ): Promise<WebhookPage> {
    return listWebhooks(context, query);
  }

  @Query(() => Webhook)
  @Permission({ itsm: 'webhooks:read:own' })
  webhook(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<Webhook> {
    return getWebhook(context, id);
  }

  @Mutation(() => NewWebhook)
  @Permission({ itsm: 'webhooks:create:own' })
  createWebhook(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreateWebhookInput) input: CreateWebhookInput,
  ): Promise<NewWebhook> {
    return createWebhook(context, input);
  }

  @Mutation(() => Webhook)
  @Permission({ itsm: 'webhooks:update:own' })
  updateWebhook(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateWebhookInput) input: UpdateWebhookInput,
  ): Promise<Webhook> {
    return updateWebhook(context, id, input);
  }

  @Mutation(() => Boolean, { description: 'Stops all further events and cancels pending deliveries.' })
  @Permission({ itsm: 'webhooks:delete:own' })
  async deleteWebhook(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<boolean> {
    await deleteWebhook(context, id);
    return true;
  }

  @Mutation(() => WebhookDelivery, {
    description: 'Sends webhook.test once, now, and waits for the outcome: 30 s at most.',
  })
  @Permission({ itsm: 'webhooks:update:own' })
  testWebhook(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<WebhookDelivery> {
    return testWebhook(context, id);
  }

  @Mutation(() => WebhookDelivery, {
    description: 'Sends the event of a delivery once more, as a delivery of its own.',
  })
  @Permission({ itsm: 'webhooks:update:own' })
  redeliverWebhook(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID) id: string,
    @Arg('deliveryId', () => ID) deliveryId: string,
  ): Promise<WebhookDelivery> {
    return redeliverToWebhook(context, id, deliveryId);
  }

  @Mutation(() => Replayed, { description: 'Sends once more what the event log holds since a moment.' })
  @Permission({ itsm: 'webhooks:update:own' })
  replayWebhook(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => ReplayInput) input: ReplayInput,
  ): Promise<Replayed> {
    return replayToWebhook(context, id, input);
  }
}
