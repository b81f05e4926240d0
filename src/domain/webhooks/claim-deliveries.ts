import type { Pool } from 'pg';
import { nativeTypes } from '../../database/native-pool.js';

/** Renewed while the worker lives, however long an attempt takes. */
export const LEASE_SECONDS = 15;

/** Webhooks looked at in one step. */
export const STRIDE = 200;

/** From one webhook to the next by the index, whatever waits in between: a million rows of one cost as much as one. */
const WAITING = `
with recursive waiting(webhook_id, due_at, step) as (
  (select webhook_id, due_at, 1 from webhook_delivery
    where status = 'pending' and lease_owner is null and webhook_id > $1
    order by webhook_id, due_at limit 1)
  union all
  select next.webhook_id, next.due_at, waiting.step + 1 from waiting cross join lateral (
    select webhook_id, due_at from webhook_delivery
    where status = 'pending' and lease_owner is null and webhook_id > waiting.webhook_id
    order by webhook_id, due_at limit 1
  ) next where waiting.step < ${STRIDE}
)
select waiting.webhook_id as "webhookId", waiting.due_at <= $2 as "isDue", webhook.active is true as "isActive"
from waiting left join webhook on webhook.id = waiting.webhook_id
order by waiting.webhook_id`;

export interface WaitingWebhook {
  webhookId: string;
  isDue: boolean;
  /** False also for one that was deleted. */
  isActive: boolean;
}

/** The next webhooks in order of their ids, after one, that have deliveries waiting. */
export async function waitingWebhooks(pool: Pool, after: string, now: Date): Promise<WaitingWebhook[]> {
  const query = { name: 'webhook-waiting', text: WAITING, values: [after, now] };
  return (await pool.query<WaitingWebhook>(query)).rows;
}

const dueOf = (webhooks: string, limit: string) => `
  select due.id from unnest(${webhooks}::text[]) as webhook(id) cross join lateral (
    select id from webhook_delivery
    where status = 'pending' and lease_owner is null and webhook_id = webhook.id and due_at <= $3
    order by due_at limit ${limit} for update skip locked
  ) due`;

/**
 * For this statement the commit is not waited for: a crash of the database in that moment undoes the claim or the
 * outcome, and the delivery is made a second time, which a receiver may always see.
 */
export const unawaitedCommit = `unawaited as materialized (
  select set_config('synchronous_commit', 'off', true) as setting
)`;

const CLAIM = `
with ${unawaitedCommit}, picked as materialized (${dueOf('$1', '$5')} union all ${dueOf('$2', '1')}),
claimed as (
  update webhook_delivery delivery set lease_owner = $4, lease_until = now() + make_interval(secs => $6),
    attempt = least(attempt + 1, max_attempts)
  from picked where delivery.id = picked.id and (select setting from unawaited) is not null
  returning delivery.id, delivery.webhook_id, delivery.event_id, delivery.attempt, delivery.max_attempts
)
select claimed.id, claimed.webhook_id as "webhookId", claimed.attempt, claimed.max_attempts as "maxAttempts",
  webhook.url, webhook.sealed_secret as "sealedSecret",
  event.id as "eventId", event.type, event.timestamp, event.organization_id as "organizationId", event.payload
from claimed
left join webhook on webhook.id = claimed.webhook_id and webhook.active
left join event on event.id = claimed.event_id`;

export interface ClaimedDelivery {
  id: string;
  webhookId: string;
  attempt: number;
  maxAttempts: number;
  /** Null when the webhook is no longer there and active. */
  url: string | null;
  sealedSecret: string | null;
  /** Null when the event has left the log. */
  eventId: string | null;
  type: string;
  timestamp: Date;
  organizationId: string;
  payload: Record<string, unknown>;
}

export interface Claim {
  /** Of each up to `quantum` deliveries. */
  trusted: readonly string[];
  /** Of each one. */
  others: readonly string[];
  quantum: number;
  owner: string;
  leaseSeconds: number;
  now: Date;
}

/** No other worker has what this answers with, until its lease runs out. The attempt counts from here on. */
export async function claimDeliveries(pool: Pool, claim: Claim): Promise<ClaimedDelivery[]> {
  const { trusted, others, quantum, owner, leaseSeconds, now } = claim;
  const { rows } = await pool.query<ClaimedDelivery>({
    name: 'webhook-claim',
    text: CLAIM,
    values: [trusted, others, now, owner, quantum, leaseSeconds],
    types: nativeTypes,
  });
  return rows;
}

const RENEW = `
update webhook_delivery set lease_until = now() + make_interval(secs => $3)
where id = any($1) and lease_owner = $2`;

export async function renewLeases(
  pool: Pool,
  ids: readonly string[],
  owner: string,
  leaseSeconds: number,
): Promise<void> {
  if (ids.length === 0) return;
  await pool.query({ name: 'webhook-renew', text: RENEW, values: [ids, owner, leaseSeconds] });
}

const RECLAIM = `
update webhook_delivery set lease_owner = null, lease_until = null, due_at = $1
where id in (
  select id from webhook_delivery where lease_owner is not null and lease_until < now()
  limit 1000 for update skip locked
)`;

/** What dead workers held is due again; how far their attempts got nobody knows. Returns how many there were. */
export async function reclaimExpired(pool: Pool, now: Date): Promise<number> {
  const { rowCount } = await pool.query({ name: 'webhook-reclaim', text: RECLAIM, values: [now] });
  return rowCount ?? 0;
}

const GIVE_BACK = `
update webhook_delivery set lease_owner = null, lease_until = null, attempt = attempt - 1
where lease_owner = $1`;

/** Of a worker that ends: its unfinished attempts are not counted and are due at once for the others. */
export async function giveBack(pool: Pool, owner: string): Promise<void> {
  await pool.query({ name: 'webhook-give-back', text: GIVE_BACK, values: [owner] });
}
