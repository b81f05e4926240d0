import { type Followed, itsmCaller, type RequestContext } from '../../context.js';
import { WebhookDelivery } from '../../entities/webhooks/webhook-delivery.js';
import { DeliveryChanges } from './delivery-changes.js';
import { findWebhook } from './find-webhooks.js';
import { deliveriesTopic } from './topics.js';

/** So many of the newest are watched: a view of what happens now, while the list is the record. */
const WATCHED = 200;

/**
 * The deliveries of a webhook: those that wait now, then each as it is queued, tried, delivered or given up. Of states
 * that follow each other faster than they are read the last one is told.
 * @throws NOT_FOUND
 */
export async function followDeliveries(
  context: RequestContext,
  webhookId: string,
): Promise<Followed<WebhookDelivery>> {
  const { organizationId } = itsmCaller(context);
  await findWebhook(context, 'read', webhookId);
  const read = () =>
    context.em
      .fork()
      .find(
        WebhookDelivery,
        { webhookId, organizationId },
        { orderBy: { createdAt: 'desc', id: 'desc' }, limit: WATCHED },
      );
  const changes = new DeliveryChanges(read, (changed) =>
    context.services.wake.on(deliveriesTopic(webhookId), changed),
  );
  await changes.begin();
  return changes;
}
