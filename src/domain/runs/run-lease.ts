import type { Pool } from 'pg';
import type { WakeChannel } from '../../context.js';
import type { RunState } from '../../entities/runs/run-enums.js';
import { runCancelTopic } from '../../events/run-topics.js';

/** A worker that is silent this long has lost its runs (completion, Runs). */
export const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;

const RENEW = `
UPDATE "run" SET "lease_until" = now() + make_interval(secs => ${LEASE_SECONDS})
WHERE "id" = $1 AND "lease_owner" = $2
RETURNING "cancel_requested_at" IS NOT NULL AS "cancelRequested"`;

const RELEASE = `
UPDATE "run" SET "lease_owner" = NULL, "lease_until" = NULL
WHERE "id" = $1 AND "lease_owner" = $2 AND "state" = ANY($3)`;

const unfinished: RunState[] = ['QUEUED', 'RUNNING', 'HEALING'];

export interface HeldLease {
  /** Ends the renewing; an unfinished run is free for the next worker at once. */
  release(): Promise<void>;
}

/**
 * Renews the lease until released, and looks for a request to cancel at each renewal and whenever one is announced.
 * A database that is away for a moment is no reason to stop: the lease itself says when it is lost.
 */
export function holdLease(options: {
  pool: Pool;
  wake: WakeChannel;
  runId: string;
  owner: string;
  onCancel(): void;
  onLost(): void;
}): HeldLease {
  const { pool, wake, runId, owner, onCancel, onLost } = options;
  let held = Date.now() + LEASE_SECONDS * 1000;
  const renew = async () => {
    try {
      const { rows } = await pool.query<{ cancelRequested: boolean }>(RENEW, [runId, owner]);
      if (rows[0] === undefined) return onLost();
      held = Date.now() + LEASE_SECONDS * 1000;
      if (rows[0].cancelRequested) onCancel();
    } catch {
      if (Date.now() > held) onLost();
    }
  };
  const timer = setInterval(() => void renew(), RENEW_MS);
  const unsubscribe = wake.on(runCancelTopic(runId), () => void renew());
  return {
    async release() {
      clearInterval(timer);
      unsubscribe();
      await pool.query(RELEASE, [runId, owner, unfinished]);
    },
  };
}

/**
 * Lets every lease run out, for a process that knows itself to be the only worker there can be: the owner of an embedded
 * database starts after a crash, and waiting for its own old leases would help nobody.
 */
export async function forfeitLeases(pool: Pool): Promise<void> {
  await pool.query(
    `UPDATE "run" SET "lease_until" = now() - interval '1 second' WHERE "lease_owner" IS NOT NULL`,
  );
}
