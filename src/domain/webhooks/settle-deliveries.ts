import type { Pool } from 'pg';
import type { WebhookAttempt } from '../../entities/webhooks/webhook-attempt.js';
import type { WebhookDeliveryStatus } from '../../entities/webhooks/webhook-delivery.js';
import { unawaitedCommit } from './claim-deliveries.js';

/** How one attempt ended, or why there was none. */
export interface Settlement {
  id: string;
  webhookId: string;
  /** As claimed. */
  attempt: number;
  status: WebhookDeliveryStatus;
  /** Null when nothing was sent: the webhook is gone or inactive, or the event has left the log. */
  record: WebhookAttempt | null;
  endedAt: Date;
  /** While pending. */
  dueAt: Date | null;
}

const assignments = `
  status = outcome.status,
  response_code = coalesce(outcome.code, case when outcome.record is null then delivery.response_code end),
  response_time_ms = coalesce(outcome.milliseconds, delivery.response_time_ms),
  attempts = case when outcome.record is null then delivery.attempts else delivery.attempts || outcome.record end,
  attempt = case when outcome.record is null then delivery.attempt - 1 else delivery.attempt end,
  due_at = outcome.due_at,
  delivered_at = case when outcome.status = 'delivered' then outcome.ended_at end,
  failed_at = case when outcome.status = 'failed' then outcome.ended_at end,
  lease_owner = null, lease_until = null`;

/** Only what this worker still holds, and a success ends a row of failures. */
const SETTLE = `
with ${unawaitedCommit}, outcome as materialized (
  select * from unnest($1::text[], $2::int[], $3::text[], $4::int[], $5::int[], $6::jsonb[], $7::timestamptz[], $8::timestamptz[])
    as outcome(id, attempt, status, code, milliseconds, record, ended_at, due_at)
), settled as (
  update webhook_delivery delivery set ${assignments}
  from outcome
  where delivery.id = outcome.id and delivery.lease_owner = $9 and delivery.attempt = outcome.attempt
    and (select setting from unawaited) is not null
  returning delivery.id, delivery.webhook_id, delivery.status
), recovered as (
  update webhook set consecutive_failures = 0
  where consecutive_failures > 0 and id in (select webhook_id from settled where status = 'delivered')
)
select id from settled`;

/** Writes what became of many attempts in one statement. Returns the ids of those this worker still held. */
export async function settleDeliveries(
  pool: Pick<Pool, 'query'>,
  owner: string,
  settlements: readonly Settlement[],
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'webhook-settle',
    text: SETTLE,
    values: [
      settlements.map(({ id }) => id),
      settlements.map(({ attempt }) => attempt),
      settlements.map(({ status }) => status),
      settlements.map(({ record }) => record?.responseCode ?? null),
      settlements.map(({ record }) => record?.responseTimeMs ?? null),
      settlements.map(({ record }) => record && JSON.stringify(record)),
      settlements.map(({ endedAt }) => endedAt),
      settlements.map(({ dueAt }) => dueAt),
      owner,
    ],
  });
  return rows.map(({ id }) => id);
}
