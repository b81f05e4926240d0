import type { Pool } from 'pg';
import type { WakeChannel } from '../../context.js';
import type { ResultColumn } from '../../engines/engine.js';
import type { PipelineStatus } from '../../entities/pipelines/pipeline.js';
import type { RunHealing } from '../../entities/runs/run.js';
import type { RunEngine, RunState, RunTaskStatus } from '../../entities/runs/run-enums.js';
import type { RunTaskCheck } from '../../entities/runs/run-task.js';
import { runTopic } from '../../events/run-topics.js';
import { isNewestRun } from './newest-run.js';
import type { NewRunMessage } from './run-message-body.js';
import { isTaskFinished } from './run-status.js';

export interface TaskChange {
  taskId: string;
  status: RunTaskStatus;
  attempt: number;
  /** Attempts that count against the retry policy; as before when absent. */
  failures?: number;
  error?: string;
  rows?: number;
  /** Of an attempt under way; absent when it begins and when it has ended. */
  percent?: number;
  bytes?: number;
  columns?: readonly ResultColumn[];
  checks?: readonly RunTaskCheck[];
  watermark?: string;
}

export interface JournalEntry {
  state?: RunState;
  engine?: RunEngine;
  error?: string;
  /** To be added, as is the next; null when unknown, as the sum is from then on. */
  rowsRead?: number | null;
  rowsWritten?: number;
  healing?: RunHealing[];
  pipelineStatus?: PipelineStatus;
  /** The run has ended: it is stamped and its lease given back. */
  finished?: boolean;
  /** Incremental sources that read on from here at the next run of the pipeline: task id to what they read. */
  watermarkSources?: Record<string, string>;
  tasks?: TaskChange[];
  /** At least one: whoever watches the run is told of every change. */
  messages: NewRunMessage[];
}

/** The run was deleted or ended over our head, or another worker holds it now: what we know is stale. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * One statement, and only while the lease is ours: a worker that was written off cannot write any more, and the
 * messages' numbers become visible in order because the run's row is locked while they are taken.
 */
const APPEND = `
WITH held AS (
  UPDATE "run" SET
    "last_seq" = "last_seq" + jsonb_array_length($3::jsonb),
    "state" = coalesce($5::text, "state"),
    "engine" = coalesce($15::text, "engine"),
    "error" = coalesce($6::text, "error"),
    "rows_read" = "rows_read" + $7::bigint,
    "rows_written" = "rows_written" + $8::bigint,
    "healing" = "healing" || $9::jsonb,
    "losses" = CASE WHEN $14::boolean THEN 0 ELSE "losses" END,
    "finished_at" = CASE WHEN $10::boolean THEN $11::timestamptz ELSE "finished_at" END,
    "lease_owner" = CASE WHEN $10::boolean THEN NULL ELSE "lease_owner" END,
    "lease_until" = CASE WHEN $10::boolean THEN NULL ELSE "lease_until" END
  WHERE "id" = $1 AND "lease_owner" = $2
  RETURNING "id", "pipeline_id", "created_at", "last_seq" - jsonb_array_length($3::jsonb) AS "before"
), changed AS (
  UPDATE "run_task" SET
    "status" = change."status",
    "attempt" = change."attempt",
    "failures" = coalesce(change."failures", "run_task"."failures"),
    "error" = change."error",
    "rows" = change."rows",
    "percent" = change."percent",
    "bytes" = change."bytes",
    "columns" = change."columns",
    "checks" = change."checks",
    "watermark" = coalesce(change."watermark", "run_task"."watermark"),
    "started_at" = CASE WHEN change."status" = 'RUNNING' AND change."percent" IS NULL THEN $11::timestamptz ELSE "run_task"."started_at" END,
    "finished_at" = CASE WHEN change."finished" THEN $11::timestamptz END
  FROM held, jsonb_to_recordset($4::jsonb)
    AS change ("taskId" text, "status" text, "attempt" int, "failures" int, "error" text, "rows" bigint, "percent" int, "bytes" bigint, "columns" jsonb,
      "checks" jsonb, "watermark" text, "finished" boolean)
  WHERE "run_task"."run_id" = held."id" AND "run_task"."task_id" = change."taskId"
), mirrored AS (
  UPDATE "pipeline" SET "status" = $12::text FROM held
  WHERE "pipeline"."id" = held."pipeline_id" AND $12::text IS NOT NULL AND ${isNewestRun('held')}
), renamed AS (
  DELETE FROM "source_watermark" AS old USING held, jsonb_each_text($13::jsonb) AS what ("taskId", "source")
  WHERE old."pipeline_id" = held."pipeline_id" AND old."source" = what."source" AND NOT $13::jsonb ? old."task_id"
    AND what."source"::jsonb ->> 2 IS NOT NULL
), watermarks AS (
  INSERT INTO "source_watermark" ("pipeline_id", "task_id", "value", "source", "updated_at")
  SELECT held."pipeline_id", read."task_id", read."watermark", what."source", $11::timestamptz
  FROM held JOIN "run_task" AS read ON read."run_id" = held."id" AND read."watermark" IS NOT NULL
  JOIN jsonb_each_text($13::jsonb) AS what ("taskId", "source") ON what."taskId" = read."task_id"
  ON CONFLICT ("pipeline_id", "task_id")
    DO UPDATE SET "value" = excluded."value", "source" = excluded."source", "updated_at" = excluded."updated_at"
)
INSERT INTO "run_message" ("run_id", "seq", "type", "body", "timestamp")
SELECT held."id", held."before" + message."position", message."value" ->> 'type', message."value" -> 'body', $11::timestamptz
FROM held, jsonb_array_elements($3::jsonb) WITH ORDINALITY AS message ("value", "position")`;

export interface RunJournal {
  /** @throws LeaseLost */
  append(entry: JournalEntry): Promise<void>;
}

export function createRunJournal(options: {
  pool: Pool;
  wake: WakeChannel;
  runId: string;
  owner: string;
  now(): Date;
}): RunJournal {
  const { pool, wake, runId, owner, now } = options;
  return {
    async append(entry) {
      const tasks = (entry.tasks ?? []).map((task) => ({ ...task, finished: isTaskFinished(task.status) }));
      const result = await pool.query({
        name: 'run-journal-append',
        text: APPEND,
        values: [
          runId,
          owner,
          JSON.stringify(entry.messages),
          JSON.stringify(tasks),
          entry.state ?? null,
          entry.error ?? null,
          entry.rowsRead === undefined ? 0 : entry.rowsRead,
          entry.rowsWritten ?? 0,
          JSON.stringify(entry.healing ?? []),
          entry.finished ?? false,
          now(),
          entry.pipelineStatus ?? null,
          JSON.stringify(entry.watermarkSources ?? {}),
          tasks.some(({ status }) => status === 'SUCCESS'),
          entry.engine ?? null,
        ],
      });
      if (result.rowCount === 0) throw new LeaseLost(`run ${runId} is not ours any more`);
      wake.wake(runTopic(runId));
    },
  };
}
