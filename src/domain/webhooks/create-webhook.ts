import { randomBytes } from 'node:crypto';
import { itsmCaller, type RequestContext } from '../../context.js';
import { newId } from '../../entities/ids.js';
import { Webhook } from '../../entities/webhooks/webhook.js';
import { transactional } from '../../events/transaction.js';
import { auditSource, recordAudit } from '../audit/index.js';
import { validate } from '../validate.js';
import { SECRET_PREFIX } from './signed-post.js';
import { vetWebhookUrl } from './vet-url.js';
import { type CreateWebhook, createWebhookSchema } from './webhook-input.js';

/** The secret itself is in the answer this once. */
export type NewWebhook = Webhook & { secret: string };

const SECRET_BYTES = 32;

/** @throws VALIDATION_ERROR */
export async function createWebhook(context: RequestContext, input: CreateWebhook): Promise<NewWebhook> {
  const { services } = context;
  const { organizationId, userId } = itsmCaller(context);
  const { url, name, events, active } = validate(createWebhookSchema, input);
  await vetWebhookUrl(services, url);
  const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  const now = services.now();
  const webhook = await transactional(context, async ({ em }) => {
    const made = em.create(Webhook, {
      id: newId('whk'),
      organizationId,
      url,
      name: name ?? null,
      events,
      sealedSecret: services.secrets.seal(secret),
      active: active ?? true,
      createdBy: userId,
      createdAt: now,
      updatedAt: now,
    });
    await em.flush();
    await recordAudit(em, {
      ...auditSource(context),
      action: 'webhook.created',
      resource: { type: 'webhook', id: made.id },
      after: auditedWebhook(made),
    });
    return made;
  });
  return Object.assign(webhook, { secret });
}

export function auditedWebhook({ url, name, events, active }: Webhook): object {
  return { url, name, events, active };
}
