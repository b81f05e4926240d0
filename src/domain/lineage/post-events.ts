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
  const { config, log, now, orm } = services;
  if (config.openlineageUrl === undefined) return;
  const pool = await nativePool(orm);
  for (;;) {
    const { rows } = await pool.query<{ id: string; event: object; attempts: number }>(WAITING);
    for (const { id, event, attempts } of rows) {
      if (onlyUntried && attempts > 0) return;
      signal.throwIfAborted();
      const problem = await post(config.openlineageUrl, event, signal);
      if (problem !== undefined) {
        await pool.query(MISSED, [id, now()]);
        log.warn({ lineageEvent: id, problem }, 'lineage event not posted, will be tried again');
        return;
      }
      await pool.query(POSTED, [id, now()]);
    }
    if (rows.length < BATCH) return;
  }
}

async function post(url: string, event: object, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.ok || REFUSED.has(response.status) ? undefined : `status ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
