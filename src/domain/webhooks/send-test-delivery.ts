import type { RequestContext, Services } from '../../context.js';
import { newId } from '../../entities/ids.js';
import type { Webhook } from '../../entities/webhooks/webhook.js';
import { WebhookDelivery } from '../../entities/webhooks/webhook-delivery.js';
import { transactional } from '../../events/transaction.js';
import type { PostOutcome } from '../../integrations/webhooks/webhook-sender.js';
import { attemptRecord, isDelivered, unsignable } from './attempt-record.js';
import { type EventEnvelope, signedPost } from './signed-post.js';
import { deliveriesTopic } from './topics.js';

const TEST_EVENT = 'webhook.test';

/**
 * One attempt, here and now, whose outcome is no error of the caller's: neither retried nor counted, also for a webhook
 * that is not active. Takes 30 s at most. The event is nobody else's, so that the log does not hold it.
 */
export async function sendTestDelivery(context: RequestContext, webhook: Webhook): Promise<WebhookDelivery> {
  const { services } = context;
  const { id: webhookId, organizationId } = webhook;
  const attemptedAt = services.now();
  const event = {
    id: newId('evt'),
    type: TEST_EVENT,
    timestamp: attemptedAt,
    organizationId,
    payload: { message: 'This is a test delivery.', webhook_id: webhookId },
  };
  const outcome = await attemptTest(services, webhook, event, attemptedAt);
  const endedAt = services.now();
  const delivered = isDelivered(outcome);
  return transactional(context, async ({ em, wakeAfterCommit }) => {
    wakeAfterCommit(deliveriesTopic(webhookId));
    return em.create(WebhookDelivery, {
      id: newId('dlv'),
      webhookId,
      organizationId,
      eventId: event.id,
      eventType: TEST_EVENT,
      isTest: true,
      status: delivered ? 'delivered' : 'failed',
      attempt: 1,
      maxAttempts: 1,
      responseCode: outcome.status,
      responseTimeMs: outcome.milliseconds,
      attempts: [attemptRecord(1, attemptedAt, outcome)],
      deliveredAt: delivered ? endedAt : null,
      failedAt: delivered ? null : endedAt,
      createdAt: attemptedAt,
    });
  });
}

/** A secret that can't be opened is ours to mend, and shows here as it does in every delivery. */
async function attemptTest(
  { secrets, webhookSender, log }: Pick<Services, 'secrets' | 'webhookSender' | 'log'>,
  { id, url, sealedSecret }: Webhook,
  event: EventEnvelope,
  at: Date,
): Promise<PostOutcome> {
  let secret: string;
  try {
    secret = secrets.open(sealedSecret);
  } catch (error) {
    log.error({ err: error, webhookId: id }, 'the secret of a webhook cannot be opened');
    return unsignable;
  }
  return webhookSender.post(signedPost(url, secret, event, at));
}
