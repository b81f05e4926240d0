import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { followDeliveries, listDeliveries, nextRetryAt } from '../../domain/webhooks/index.js';
import { WebhookAttempt } from '../../entities/webhooks/webhook-attempt.js';
import { WebhookDelivery } from '../../entities/webhooks/webhook-delivery.js';
import { Permission } from '../permission.js';
import { WebhookDeliveriesArgs, WebhookDeliveryPage } from './webhook-types.js';

@Resolver(() => WebhookDelivery)
export class WebhookDeliveryResolver {
  @Query(() => WebhookDeliveryPage, {
    description: 'What was sent to a webhook, the newest first; 20 when no limit is given.',
  })
  @Permission({ itsm: 'webhooks:read:own' })
  webhookDeliveries(
    @Ctx() context: RequestContext,
    @Args(() => WebhookDeliveriesArgs) { webhookId, ...query }: WebhookDeliveriesArgs,
  ): Promise<WebhookDeliveryPage> {
    return listDeliveries(context, webhookId, query);
  }

  @Subscription(() => WebhookDelivery, {
    name: 'webhookDeliveries',
    description:
      'Deliveries of a webhook: those that wait now, then each as it is queued, tried, delivered or given up.',
    subscribe: ({ args, context }: { args: { webhookId: string }; context: RequestContext }) =>
      followDeliveries(context, args.webhookId) as Promise<AsyncIterable<unknown>>,
  })
  @Permission({ itsm: 'webhooks:read:own' })
  followWebhookDeliveries(
    @Root() delivery: WebhookDelivery,
    @Arg('webhookId', () => ID) _webhookId: string,
  ): WebhookDelivery {
    return delivery;
  }

  @FieldResolver(() => GraphQLDateTime, { nullable: true, description: 'Null while none is planned.' })
  nextRetryAt(@Root() delivery: WebhookDelivery): Date | null {
    return nextRetryAt(delivery);
  }

  @FieldResolver(() => [WebhookAttempt], {
    nullable: true,
    description: 'The attempts of a delivery that failed; null for any other.',
  })
  failedAttempts(@Root() { status, attempts }: WebhookDelivery): WebhookAttempt[] | null {
    return status === 'failed' ? attempts : null;
  }
}
