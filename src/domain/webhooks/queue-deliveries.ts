import type { Pool, PoolClient } from 'pg';
import { newId } from '../../entities/ids.js';
import { matchesCreator } from './matching-events.js';

/** Events taken in one transaction; each makes as many rows as its organization has matching webhooks. */
const BATCH = 500;

/**
 * One node at a time; another one that comes meanwhile leaves, since this one looks again. The commit is not waited for:
 * a crash of the database takes deliveries and position back together, and the events are queued again.
 */
const BEGIN = `begin; set local synchronous_commit = off; select seq from webhook_position where id = 1 for update skip locked`;

const MATCHING = `
with event as materialized (
  select seq, id, organization_id, type, payload from event where seq > $1 order by seq limit ${BATCH}
)
select event.seq, event.id as "eventId", event.type as "eventType", event.organization_id as "organizationId",
  webhook.id as "webhookId"
from event left join webhook on webhook.organization_id = event.organization_id and webhook.active
  and (webhook.events @> '{*}' or event.type = any(webhook.events)) and ${matchesCreator}
order by event.seq`;

/** A replay may have been there before. */
const QUEUE = `
insert into webhook_delivery (id, webhook_id, organization_id, event_id, event_type, due_at, created_at)
select added.*, $6::timestamptz, $6::timestamptz
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) as added
on conflict (webhook_id, event_id, generation) do nothing`;

const MOVE = `update webhook_position set seq = $1 where id = 1`;

interface Match {
  seq: string;
  eventId: string;
  eventType: string;
  organizationId: string;
  webhookId: string | null;
}
type Addressed = Match & { webhookId: string };

export interface Queued {
  /** Webhooks that were given something to deliver. */
  webhookIds: Set<string>;
  /** Whether there may be more events. */
  more: boolean;
}

/**
 * Makes the deliveries of the next events of the log and moves on, in one transaction: whatever dies, and whenever,
 * each event is queued exactly once for each webhook that was active and asked for it. It follows the sequencer rather
 * than sharing its transaction, so that no webhook can hold up subscriptions (docs/decisions/webhook-deliveries.md).
 */
export async function queueDeliveries(pool: Pool, now: () => Date): Promise<Queued> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await queueBatch(client, now);
  } catch (error) {
    await client.query('rollback').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

async function queueBatch(client: PoolClient, now: () => Date): Promise<Queued> {
  const position = await lockedPosition(client);
  const matches = position === undefined ? [] : await matchesAfter(client, position);
  const last = matches.at(-1);
  if (last === undefined) {
    await client.query('rollback');
    return { webhookIds: new Set(), more: false };
  }
  const queued = matches.filter((match): match is Addressed => match.webhookId !== null);
  if (queued.length > 0)
    await client.query({
      name: 'webhook-queue',
      text: QUEUE,
      values: [
        queued.map(() => newId('dlv')),
        queued.map(({ webhookId }) => webhookId),
        queued.map(({ organizationId }) => organizationId),
        queued.map(({ eventId }) => eventId),
        queued.map(({ eventType }) => eventType),
        now(),
      ],
    });
  await client.query({ name: 'webhook-move', text: MOVE, values: [last.seq] });
  await client.query('commit');
  const events = new Set(matches.map(({ seq }) => seq)).size;
  return { webhookIds: new Set(queued.map(({ webhookId }) => webhookId)), more: events === BATCH };
}

async function lockedPosition(client: PoolClient): Promise<string | undefined> {
  // A message of three statements answers with three results, which the types do not know.
  const results = (await client.query(BEGIN)) as unknown as { rows: { seq: string }[] }[];
  return results[2]?.rows[0]?.seq;
}

async function matchesAfter(client: PoolClient, position: string): Promise<Match[]> {
  const { rows } = await client.query<Match>({ name: 'webhook-match', text: MATCHING, values: [position] });
  return rows;
}
