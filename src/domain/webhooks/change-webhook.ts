import type { RequestContext } from '../../context.js';
import type { Webhook } from '../../entities/webhooks/webhook.js';
import { transactional } from '../../events/transaction.js';
import { auditSource, recordAudit } from '../audit/index.js';
import { validate } from '../validate.js';
import { cancelDeliveries } from './cancel-deliveries.js';
import { auditedWebhook } from './create-webhook.js';
import { findWebhook, lockWebhook } from './find-webhooks.js';
import { deliveriesTopic } from './topics.js';
import { vetWebhookUrl } from './vet-url.js';
import { type UpdateWebhook, updateWebhookSchema } from './webhook-input.js';

/** What enabling by hand forgets (ITSM completion, Webhooks beyond the document). */
const afresh = { consecutiveFailures: 0, disabledReason: null, disabledAt: null };

/** The secret stays. @throws VALIDATION_ERROR, NOT_FOUND */
export async function updateWebhook(
  context: RequestContext,
  id: string,
  input: UpdateWebhook,
): Promise<Webhook> {
  const fields = validate(updateWebhookSchema, input);
  // Who may not change it learns nothing of where names lead.
  const known = await findWebhook(context, 'update', id);
  if (fields.url !== undefined && fields.url !== known.url) await vetWebhookUrl(context.services, fields.url);
  return transactional(context, async ({ em, wakeAfterCommit }) => {
    const webhook = await lockWebhook(em, context, 'update', id);
    const before = auditedWebhook(webhook);
    const now = context.services.now();
    if (fields.active === true && !webhook.active) em.assign(webhook, afresh);
    if (fields.active === false && webhook.active) {
      await cancelDeliveries(em, id, now);
      wakeAfterCommit(deliveriesTopic(id));
    }
    em.assign(webhook, { ...fields, updatedAt: now });
    await em.flush();
    await recordAudit(em, {
      ...auditSource(context),
      action: 'webhook.updated',
      resource: { type: 'webhook', id },
      before,
      after: auditedWebhook(webhook),
    });
    return webhook;
  });
}

/** Nothing more is sent to it, and what waited is cancelled. @throws NOT_FOUND */
export async function deleteWebhook(context: RequestContext, id: string): Promise<void> {
  await transactional(context, async ({ em, wakeAfterCommit }) => {
    const webhook = await lockWebhook(em, context, 'delete', id);
    em.remove(webhook);
    await em.flush();
    await cancelDeliveries(em, id, context.services.now());
    wakeAfterCommit(deliveriesTopic(id));
    await recordAudit(em, {
      ...auditSource(context),
      action: 'webhook.deleted',
      resource: { type: 'webhook', id },
      before: auditedWebhook(webhook),
    });
  });
}
