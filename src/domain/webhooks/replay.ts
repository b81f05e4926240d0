import { LockMode } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { newId } from '../../entities/ids.js';
import { Webhook } from '../../entities/webhooks/webhook.js';
import { transactional } from '../../events/transaction.js';
import { activeWebhook } from './active-webhook.js';
import { matchesCreator } from './matching-events.js';
import { DELIVERIES_DUE, deliveriesTopic } from './topics.js';

/** Events queued by one call. */
export const MAX_REPLAYED = 10_000;

export interface Replay {
  since: Date;
  /** Only these of the webhook's own types; all of them by default. */
  eventTypes?: readonly string[] | null | undefined;
}

export interface Replayed {
  /** Deliveries queued by this call. */
  queued: number;
  /** Where to go on with another call; null when everything was queued. */
  nextSince: Date | null;
}

const MATCHING = `
select event.id, event.type, event.timestamp,
  coalesce((select max(generation) + 1 from webhook_delivery delivery
    where delivery.webhook_id = webhook.id and delivery.event_id = event.id), 0) as generation
from webhook join event on event.organization_id = webhook.organization_id
where webhook.id = ? and event.seq is not null and event.timestamp >= ?
  and (webhook.events @> '{*}' or event.type = any(webhook.events))
  and (?::jsonb is null or event.type in (select jsonb_array_elements_text(?::jsonb)))
  and ${matchesCreator}
order by event.timestamp, event.id limit ${MAX_REPLAYED + 1}`;

/** What the workers queue at this very moment is delivered by them. */
const QUEUE = `
insert into webhook_delivery (id, webhook_id, organization_id, event_id, event_type, generation, due_at, created_at)
select added.id, ?, ?, added.event_id, added.event_type, added.generation, ?, ?
from jsonb_to_recordset(?::jsonb) as added(id text, event_id text, event_type text, generation int)
on conflict (webhook_id, event_id, generation) do nothing`;

interface MatchingEvent {
  id: string;
  type: string;
  timestamp: Date | string;
  generation: number;
}

/**
 * Queues once more what the log holds since a moment, each event as a delivery of its own, in the order of the log.
 * @throws NOT_FOUND for an unknown webhook, CONFLICT for one that is not active
 */
export async function replay(
  context: RequestContext,
  { id: webhookId }: Pick<Webhook, 'id'>,
  { since, eventTypes }: Replay,
): Promise<Replayed> {
  return transactional(context, async ({ em, wakeAfterCommit }) => {
    const { organizationId } = activeWebhook(
      await em.findOne(Webhook, { id: webhookId }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
      webhookId,
    );
    const types = eventTypes ? JSON.stringify(eventTypes) : null;
    const found = await em.execute<MatchingEvent[]>(MATCHING, [webhookId, since, types, types]);
    const events = withinLimit(found);
    const next = found.length > events.length ? found[events.length] : undefined;
    const now = context.services.now();
    const rows = events.map(({ id, type, generation }) => ({
      id: newId('dlv'),
      event_id: id,
      event_type: type,
      generation,
    }));
    await em.execute(QUEUE, [webhookId, organizationId, now, now, JSON.stringify(rows)]);
    if (events.length > 0) wakeAfterCommit(DELIVERIES_DUE);
    if (events.length > 0) wakeAfterCommit(deliveriesTopic(webhookId));
    return { queued: events.length, nextSince: next ? new Date(next.timestamp) : null };
  });
}

/** The moment of the first event beyond the limit is left whole to the next call, so that nothing is queued twice. */
function withinLimit(found: MatchingEvent[]): MatchingEvent[] {
  if (found.length <= MAX_REPLAYED) return found;
  const beyond = new Date(found[MAX_REPLAYED]?.timestamp ?? 0).getTime();
  const before = found.filter(({ timestamp }) => new Date(timestamp).getTime() < beyond);
  // More events than the limit in one millisecond: better some of them twice than none of them ever.
  return before.length > 0 ? before : found.slice(0, MAX_REPLAYED);
}
