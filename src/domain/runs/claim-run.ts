import type { Pool } from 'pg';
import type { Config } from '../../config.js';
import { nativeTypes } from '../../database/native-pool.js';
import type { RunWatermark } from '../../entities/runs/run.js';
import { LEASE_SECONDS } from './run-lease.js';

/** How many runs may be under way at once. */
export type RunLimits = Pick<Config, 'runsPerWorkspace' | 'runsPerPipeline'>;

export interface ClaimedRun {
  id: string;
  organizationId: string;
  workspaceId: string;
  workspaceSlug: string;
  pipelineId: string;
  pipelineName: string;
  yamlDefinition: string;
  isExclusive: boolean;
  parameters: Record<string, unknown>;
  startedAt: Date;
  /** What `schedule.date` is the date of. */
  logicalTime: Date;
  retryOf: string | null;
  firstRunId: string | null;
  /** Where incremental sources begin, by task id; null where the run has none that count. */
  watermarks: Record<string, RunWatermark> | null;
  /** Another run has read on meanwhile: only a retry can find that. */
  isOvertaken: boolean;
  /** Workers in a row that went silent with the run and had finished no task of it. */
  losses: number;
  /** Log lines that earlier workers wrote. */
  logLines: number;
  maxRetries: number;
  retryDelaySeconds: number;
  timeoutSeconds: number;
  cancelRequested: boolean;
}

const LOCKED = 'FOR UPDATE SKIP LOCKED';

/**
 * What a worker may take: first what another has begun and let go, which has its place already, then what waits and
 * has a place, by priority and age. $1 is the limit of a workspace, $2 of a pipeline.
 */
const candidates = (locked = ''): string => `
WITH active AS MATERIALIZED (
  SELECT "workspace_id", "pipeline_id", "is_exclusive" FROM "run"
  WHERE "started_at" IS NOT NULL AND "state" IN ('QUEUED', 'RUNNING', 'HEALING')
), left_behind AS (
  SELECT "id" FROM "run"
  WHERE "started_at" IS NOT NULL AND "state" IN ('QUEUED', 'RUNNING', 'HEALING')
    AND ("lease_until" IS NULL OR "lease_until" < now())
  ORDER BY "lease_until" NULLS FIRST
  ${locked}
), waiting AS (
  SELECT "id", "created_at" FROM "run"
  WHERE "state" = 'QUEUED' AND "started_at" IS NULL
    AND "workspace_id" <> ALL (ARRAY(SELECT "workspace_id" FROM active GROUP BY 1 HAVING count(*) >= $1))
    AND "pipeline_id" <> ALL (ARRAY(SELECT "pipeline_id" FROM active GROUP BY 1 HAVING count(*) >= $2))
    AND NOT ("is_exclusive" AND "pipeline_id" = ANY (ARRAY(SELECT "pipeline_id" FROM active WHERE "is_exclusive")))
  ORDER BY "priority" DESC, "created_at", "id"
  ${locked}
)`;

/** Where the incremental sources of a pipeline stopped, by task id. */
const WATERMARKS_OF = (pipelineId: string): string =>
  `(SELECT coalesce(jsonb_object_agg("task_id", jsonb_build_object('value', "value", 'source', "source")), '{}')
    FROM "source_watermark" WHERE "pipeline_id" = ${pipelineId})`;

const CLAIM = `${candidates(LOCKED)}, claimed AS (
  UPDATE "run" SET
    "lease_owner" = $3,
    "lease_until" = now() + make_interval(secs => ${LEASE_SECONDS}),
    "attempts" = "attempts" + 1,
    "losses" = "losses" + ("lease_owner" IS NOT NULL)::int,
    "started_at" = coalesce("started_at", $4),
    "watermarks" = coalesce("watermarks", CASE WHEN "is_exclusive" THEN ${WATERMARKS_OF('"run"."pipeline_id"')} END)
  WHERE "id" = coalesce((SELECT "id" FROM left_behind LIMIT 1), (SELECT "id" FROM waiting LIMIT 1))
  RETURNING *
)
SELECT claimed."id", claimed."organization_id" AS "organizationId", claimed."workspace_id" AS "workspaceId",
  workspace."slug" AS "workspaceSlug", pipeline."id" AS "pipelineId", pipeline."name" AS "pipelineName",
  claimed."yaml_definition" AS "yamlDefinition", claimed."parameters" AS "parameters",
  claimed."is_exclusive" AS "isExclusive", claimed."started_at" AS "startedAt",
  coalesce(claimed."logical_time", claimed."started_at") AS "logicalTime",
  claimed."retry_of" AS "retryOf", claimed."first_run_id" AS "firstRunId", claimed."losses", claimed."watermarks",
  claimed."is_exclusive" AND claimed."watermarks" <> ${WATERMARKS_OF('claimed."pipeline_id"')} AS "isOvertaken",
  pipeline."max_retries" AS "maxRetries", pipeline."retry_delay_seconds" AS "retryDelaySeconds",
  (SELECT count(*)::int FROM "run_message" WHERE "run_id" = claimed."id" AND "type" = 'log') AS "logLines",
  pipeline."timeout_seconds" AS "timeoutSeconds", claimed."cancel_requested_at" IS NOT NULL AS "cancelRequested"
FROM claimed
JOIN "pipeline" ON pipeline."id" = claimed."pipeline_id"
JOIN "workspace" ON workspace."id" = claimed."workspace_id"`;

/** One claim at a time over all workers, so that no two take the same last place. Any number that nobody else locks. */
const CLAIM_LOCK = 7_283_110;
/** A worker that freezes with the lock holds up every other; one at work is never idle this long between statements. */
const CLAIM_IDLE_MS = 5_000;
const BEGIN_CLAIM = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${CLAIM_IDLE_MS};
SELECT pg_advisory_xact_lock(${CLAIM_LOCK})`;

/** The run that is next; undefined when none waits, or none of those that wait has a place. */
export async function claimRun(
  pool: Pool,
  owner: string,
  now: Date,
  { runsPerWorkspace, runsPerPipeline }: RunLimits,
): Promise<ClaimedRun | undefined> {
  const client = await pool.connect();
  let failure: unknown;
  try {
    // A statement sees what was committed when it began, so the lock has to come with one of its own.
    await client.query(BEGIN_CLAIM);
    const { rows } = await client.query<ClaimedRun>({
      name: 'run-claim',
      text: CLAIM,
      values: [runsPerWorkspace, runsPerPipeline, owner, now],
      types: nativeTypes,
    });
    await client.query('COMMIT');
    return rows[0];
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    // Without its connection the transaction is over as well.
    client.release(failure !== undefined);
  }
}

/** How many runs a worker could take now, `most` at most; those of the last seconds are on their way through the queue. */
export async function countClaimable(
  pool: Pool,
  { runsPerWorkspace, runsPerPipeline }: RunLimits,
  most: number,
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    text: `${candidates()} SELECT count(*)::int AS "count" FROM (
      SELECT "id" FROM left_behind
      UNION ALL SELECT "id" FROM waiting WHERE "created_at" < now() - interval '5 seconds' LIMIT ${most}) AS claimable`,
    values: [runsPerWorkspace, runsPerPipeline],
  });
  return rows[0]?.count ?? 0;
}

const HELD_UP = `
WITH active AS (
  SELECT count(*) AS "runs", count(*) FILTER (WHERE "pipeline_id" = $2) AS "ofPipeline" FROM "run"
  WHERE "workspace_id" = $1 AND "started_at" IS NOT NULL AND "state" IN ('QUEUED', 'RUNNING', 'HEALING')
)
SELECT EXISTS (
  SELECT FROM "run", active WHERE "workspace_id" = $1 AND "state" = 'QUEUED' AND "started_at" IS NULL
    AND (active."runs" + 1 >= $3 OR ("pipeline_id" = $2 AND ("is_exclusive" OR active."ofPipeline" + 1 >= $4)))
) AS "heldUp"`;

/** Whether the end of a run may have made place for one that waits. */
export async function hasHeldUp(
  pool: Pool,
  { workspaceId, pipelineId }: { workspaceId: string; pipelineId: string },
  { runsPerWorkspace, runsPerPipeline }: RunLimits,
): Promise<boolean> {
  const { rows } = await pool.query<{ heldUp: boolean }>({
    name: 'run-held-up',
    text: HELD_UP,
    values: [workspaceId, pipelineId, runsPerWorkspace, runsPerPipeline],
  });
  return rows[0]?.heldUp ?? false;
}
