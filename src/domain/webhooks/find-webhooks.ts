import { LockMode, type ObjectQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type ItsmPrincipal, itsmCaller, type RequestContext } from '../../context.js';
import { Webhook } from '../../entities/webhooks/webhook.js';
import { notFound } from '../../errors.js';
import { type Action, forbidden, widestScope } from '../identity/index.js';
import { listRows } from '../list-rows.js';
import type { Page, PageRequest, SortOrder } from '../page.js';

/** ITSM document, Limits. */
const DEFAULT_LIMIT = 10;

export interface WebhooksQuery extends PageRequest {
  active?: boolean | null | undefined;
  sortOrder?: SortOrder | null | undefined;
}

/** A webhook has no team: whoever may not act on all of them acts on those they made. */
function webhooksOf(caller: ItsmPrincipal, action: Action): ObjectQuery<Webhook> {
  const { organizationId, userId: createdBy } = caller;
  const scope = widestScope(caller.permissions, 'webhooks', action);
  if (scope === undefined) throw forbidden(caller, `webhooks:${action}:own`);
  return scope === 'all' ? { organizationId } : { organizationId, createdBy };
}

/** @throws VALIDATION_ERROR */
export async function listWebhooks(context: RequestContext, query: WebhooksQuery): Promise<Page<Webhook>> {
  const { active, sortOrder, limit } = query;
  return listRows(
    context.em,
    {
      entity: Webhook,
      prefix: 'whk',
      visible: webhooksOf(itsmCaller(context), 'read'),
      filters: active == null ? [] : [{ active }],
      sort: { property: 'createdAt', column: 'created_at' },
      order: sortOrder ?? 'desc',
    },
    { ...query, limit: limit ?? DEFAULT_LIMIT },
  );
}

/** @throws NOT_FOUND */
export function getWebhook(context: RequestContext, id: string): Promise<Webhook> {
  return findWebhook(context, 'read', id);
}

/** @throws NOT_FOUND, also for one that this caller may not act on */
export function findWebhook(context: RequestContext, action: Action, id: string): Promise<Webhook> {
  return found(context.em.fork(), context, action, id);
}

/** The same in the transaction of `em`; whoever else would change the webhook waits for its end. */
export function lockWebhook(
  em: EntityManager,
  context: RequestContext,
  action: Action,
  id: string,
): Promise<Webhook> {
  return found(em, context, action, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

async function found(
  em: EntityManager,
  context: RequestContext,
  action: Action,
  id: string,
  lock: { lockMode?: LockMode.PESSIMISTIC_WRITE } = {},
): Promise<Webhook> {
  const where = { $and: [{ id }, webhooksOf(itsmCaller(context), action)] };
  const webhook = await em.findOne(Webhook, where, lock);
  if (!webhook) throw notFound('webhook', id);
  return webhook;
}
