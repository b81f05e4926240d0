import type { PoolClient, QueryResult } from 'pg';
import type { Services } from '../../context.js';
import { nativePool } from '../../database/native-pool.js';

export const POST_LINEAGE = 'post-lineage';

const BATCH = 100;
const TIMEOUT_MS = 10_000;
/** At one attempt every 15 s or more: about a day. An event that is refused so long would hold up all others. */
const MAX_ATTEMPTS = 5_000;
/** A receiver that says the event itself is wrong will say so again. */
const REFUSED = new Set([400, 413, 415, 422]);

const WAITING = `
SELECT "id", "event", "attempts" FROM "lineage_event" WHERE "posted_at" IS NULL ORDER BY "id" LIMIT ${BATCH}`;
const POSTED = `UPDATE "lineage_event" SET "posted_at" = $2, "attempts" = "attempts" + 1 WHERE "id" = $1`;
const MISSED = `
UPDATE "lineage_event" SET "attempts" = "attempts" + 1,
  "posted_at" = CASE WHEN "attempts" + 1 >= ${MAX_ATTEMPTS} THEN $2::timestamptz END
WHERE "id" = $1`;

/** One worker posts at a time, so that order holds and nothing is posted twice. Any number that nobody else locks. */
const POSTING_LOCK = 7_283_111;
/** A worker that freezes with the lock holds up every other; one at work waits for a receiver 10 s at most. */
const TAKE = `SET idle_session_timeout = ${3 * TIMEOUT_MS}; SELECT pg_try_advisory_lock(${POSTING_LOCK}) AS taken`;
const LET_GO = 'SELECT pg_advisory_unlock_all(); RESET idle_session_timeout';

/**
 * Posts what OPENLINEAGE_URL has not had yet, in order, each at least once; the first that fails is tried again later,
 * and those behind it wait for it. `onlyUntried` leaves one that failed to the next turn: each run asks for its events
 * to be posted, and a receiver that hangs would else hold a place for jobs for 10 s as often.
 * Without a URL nothing is posted, and nothing waits.
 */
export async function postLineage(
  services: Services,
  signal: AbortSignal,
  onlyUntried = false,
): Promise<void> {
  const url = services.config.openlineageUrl;
  if (url === undefined) return;
  const client = await (await nativePool(services.orm)).connect();
  let failure: unknown;
  try {
    // Two statements at once give a result each.
    const results = (await client.query(TAKE)) as unknown as QueryResult<{ taken: boolean }>[];
    if (results[1]?.rows[0]?.taken === true) await postAll(services, client, { url, signal, onlyUntried });
    await client.query(LET_GO);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    // A connection that may still hold the lock is not used again.
    client.release(failure !== undefined);
  }
}

async function postAll(
  { log, now }: Services,
  client: PoolClient,
  { url, signal, onlyUntried }: { url: string; signal: AbortSignal; onlyUntried: boolean },
): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ id: string; event: object; attempts: number }>(WAITING);
    for (const { id, event, attempts } of rows) {
      if (onlyUntried && attempts > 0) return;
      signal.throwIfAborted();
      const problem = await post(url, event, signal);
      if (problem?.isFinal === false) {
        await client.query(MISSED, [id, now()]);
        log.warn(
          { lineageEvent: id, problem: problem.what },
          'lineage event not posted, will be tried again',
        );
        return;
      }
      await client.query(POSTED, [id, now()]);
      if (problem)
        log.warn({ lineageEvent: id, problem: problem.what }, 'lineage event refused by its receiver');
    }
    if (rows.length < BATCH) return;
  }
}

async function post(
  url: string,
  event: object,
  signal: AbortSignal,
): Promise<{ what: string; isFinal: boolean } | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    return { what: `status ${response.status}`, isFinal: REFUSED.has(response.status) };
  } catch (error) {
    return { what: error instanceof Error ? error.message : String(error), isFinal: false };
  }
}
