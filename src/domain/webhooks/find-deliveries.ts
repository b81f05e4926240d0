import type { ObjectQuery } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { WebhookDelivery, type WebhookDeliveryStatus } from '../../entities/webhooks/webhook-delivery.js';
import { invalidField } from '../../errors.js';
import { isEventType } from '../../events/catalogue.js';
import { type Slice, sliceRows } from '../list-rows.js';
import type { PageRequest, SortOrder } from '../page.js';
import { findWebhook } from './find-webhooks.js';

/** ITSM document, Limits. */
const DEFAULT_LIMIT = 20;

export interface DeliveriesQuery extends PageRequest {
  status?: WebhookDeliveryStatus | null | undefined;
  eventType?: string | null | undefined;
  sortOrder?: SortOrder | null | undefined;
}

/** @throws VALIDATION_ERROR, NOT_FOUND */
export async function listDeliveries(
  context: RequestContext,
  webhookId: string,
  query: DeliveriesQuery,
): Promise<Slice<WebhookDelivery>> {
  const { status, eventType, sortOrder, limit } = query;
  if (eventType != null && !isEventType(eventType))
    throw invalidField('event_type', 'isIn', 'event_type must be a type of event');
  await findWebhook(context, 'read', webhookId);
  const filters: ObjectQuery<WebhookDelivery>[] = [];
  if (status != null) filters.push({ status });
  if (eventType != null) filters.push({ eventType });
  return sliceRows(
    context.em,
    {
      entity: WebhookDelivery,
      prefix: 'dlv',
      visible: { webhookId },
      filters,
      sort: { property: 'createdAt', column: 'created_at' },
      order: sortOrder ?? 'desc',
    },
    { ...query, limit: limit ?? DEFAULT_LIMIT },
  );
}

/** Null before the first attempt, while one is under way and after the last. */
export function nextRetryAt({ status, attempt, leaseOwner, dueAt }: WebhookDelivery): Date | null {
  return status === 'pending' && attempt > 0 && leaseOwner === null ? dueAt : null;
}
