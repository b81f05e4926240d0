import type { Webhook } from '../../entities/webhooks/webhook.js';
import { conflict, notFound } from '../../errors.js';

/** @throws NOT_FOUND for none, CONFLICT for one that is not active */
export function activeWebhook(webhook: Webhook | null, id: string): Webhook {
  if (!webhook) throw notFound('webhook', id);
  if (!webhook.active) throw conflict('The webhook is not active', { active: false });
  return webhook;
}
