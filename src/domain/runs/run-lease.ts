import type { Pool } from 'pg';
import type { WakeChannel } from '../../context.js';
import { nativeTypes } from '../../database/native-pool.js';
import type { RunState } from '../../entities/runs/run-enums.js';
import { runCancelTopic } from '../../events/run-topics.js';

/** A worker that is silent this long has lost its runs (completion, Runs). */
export const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;

export interface ClaimedRun {
  id: string;
  organizationId: string;
  workspaceId: string;
  workspaceSlug: string;
  pipelineId: string;
  pipelineName: string;
  yamlDefinition: string;
  /** Whether that is the pipeline's own, and not the run request's. */
  isOwnDefinition: boolean;
  parameters: Record<string, unknown>;
  startedAt: Date;
  maxRetries: number;
  retryDelaySeconds: number;
  timeoutSeconds: number;
  cancelRequested: boolean;
}

const CLAIM = `
WITH claimed AS (
  UPDATE "run" SET
    "lease_owner" = $2,
    "lease_until" = now() + make_interval(secs => ${LEASE_SECONDS}),
    "attempts" = "attempts" + 1,
    "started_at" = coalesce("started_at", $3)
  WHERE "id" = $1 AND "state" IN ('QUEUED', 'RUNNING', 'HEALING')
    AND ("lease_until" IS NULL OR "lease_until" < now())
  RETURNING *
)
SELECT claimed."id", claimed."organization_id" AS "organizationId", claimed."workspace_id" AS "workspaceId",
  workspace."slug" AS "workspaceSlug", pipeline."id" AS "pipelineId", pipeline."name" AS "pipelineName",
  claimed."yaml_definition" AS "yamlDefinition", claimed."parameters" AS "parameters",
  EXISTS (SELECT FROM "pipeline_revision" revision WHERE revision."pipeline_id" = claimed."pipeline_id"
    AND revision."version" = claimed."pipeline_version"
    AND revision."yaml_definition" = claimed."yaml_definition") AS "isOwnDefinition",
  claimed."started_at" AS "startedAt",
  pipeline."max_retries" AS "maxRetries", pipeline."retry_delay_seconds" AS "retryDelaySeconds",
  pipeline."timeout_seconds" AS "timeoutSeconds", claimed."cancel_requested_at" IS NOT NULL AS "cancelRequested"
FROM claimed
JOIN "pipeline" ON pipeline."id" = claimed."pipeline_id"
JOIN "workspace" ON workspace."id" = claimed."workspace_id"`;

/** Undefined when the run has ended, is gone, or another worker holds it. */
export async function claimRun(
  pool: Pool,
  runId: string,
  owner: string,
  now: Date,
): Promise<ClaimedRun | undefined> {
  const { rows } = await pool.query<ClaimedRun>({
    name: 'run-claim',
    text: CLAIM,
    values: [runId, owner, now],
    types: nativeTypes,
  });
  return rows[0];
}

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
 * Takes every lease away, for a process that knows itself to be the only worker there can be: the owner of an embedded
 * database starts after a crash, and waiting for its own old leases to run out would help nobody.
 */
export async function forfeitLeases(pool: Pool): Promise<void> {
  await pool.query(
    'UPDATE "run" SET "lease_owner" = NULL, "lease_until" = NULL WHERE "lease_owner" IS NOT NULL',
  );
}
