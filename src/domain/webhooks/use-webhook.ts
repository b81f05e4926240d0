import type { RequestContext } from '../../context.js';
import type { WebhookDelivery } from '../../entities/webhooks/webhook-delivery.js';
import { validate } from '../validate.js';
import { findWebhook } from './find-webhooks.js';
import { redeliver } from './redeliver.js';
import { type Replay, type Replayed, replay } from './replay.js';
import { sendTestDelivery } from './send-test-delivery.js';
import { replaySchema } from './webhook-input.js';

/** @throws NOT_FOUND */
export async function testWebhook(context: RequestContext, id: string): Promise<WebhookDelivery> {
  return sendTestDelivery(context, await findWebhook(context, 'update', id));
}

/** @throws NOT_FOUND, CONFLICT */
export async function redeliverToWebhook(
  context: RequestContext,
  id: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  return redeliver(context, await findWebhook(context, 'update', id), deliveryId);
}

/** @throws VALIDATION_ERROR, NOT_FOUND, CONFLICT */
export async function replayToWebhook(context: RequestContext, id: string, input: Replay): Promise<Replayed> {
  const fields = validate(replaySchema, input);
  return replay(context, await findWebhook(context, 'update', id), fields);
}
