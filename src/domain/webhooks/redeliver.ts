import { LockMode } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { Event } from '../../entities/events/event.js';
import { newId } from '../../entities/ids.js';
import { Webhook } from '../../entities/webhooks/webhook.js';
import { WebhookDelivery } from '../../entities/webhooks/webhook-delivery.js';
import { conflict, notFound } from '../../errors.js';
import { transactional } from '../../events/transaction.js';
import { activeWebhook } from './active-webhook.js';
import { DELIVERIES_DUE, deliveriesTopic } from './topics.js';

/**
 * Sends the event of a delivery once more, as a delivery of its own with attempts of its own.
 * @throws NOT_FOUND when the webhook has no such delivery; CONFLICT while the webhook is inactive, and for what there is
 *   no event of any more: a test, or an event that has left the log
 */
export async function redeliver(
  context: RequestContext,
  { id: webhookId }: Pick<Webhook, 'id'>,
  deliveryId: string,
): Promise<WebhookDelivery> {
  return transactional(context, async ({ em, wakeAfterCommit }) => {
    // The lock gives generations one after the other.
    const webhook = activeWebhook(
      await em.findOne(Webhook, { id: webhookId }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
      webhookId,
    );
    const original = await em.findOne(WebhookDelivery, { id: deliveryId, webhookId });
    if (!original) throw notFound('delivery', deliveryId);
    const { eventId, eventType, organizationId } = original;
    if (original.isTest) throw conflict('A test delivery is not sent again', { isTest: true });
    const event = await em.findOne(Event, { id: eventId });
    if (!event) throw conflict('The event is no longer in the event log', { eventId });
    const [last] = await em.find(
      WebhookDelivery,
      { webhookId: webhook.id, eventId },
      { orderBy: { generation: 'desc' }, limit: 1 },
    );
    const now = context.services.now();
    wakeAfterCommit(DELIVERIES_DUE);
    wakeAfterCommit(deliveriesTopic(webhookId));
    return em.create(WebhookDelivery, {
      id: newId('dlv'),
      webhookId,
      organizationId,
      eventId,
      eventType,
      generation: (last?.generation ?? 0) + 1,
      dueAt: now,
      createdAt: now,
    });
  });
}
