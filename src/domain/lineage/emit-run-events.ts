import type { Pool } from 'pg';
import type { Services } from '../../context.js';
import { nativePool, nativeTypes } from '../../database/native-pool.js';
import type { ConnectionTarget, ResultColumn } from '../../engines/engine.js';
import type { LineageEventType } from '../../entities/lineage/lineage-event.js';
import type { RunState } from '../../entities/runs/run-enums.js';
import { AppError } from '../../errors.js';
import { connectionTarget } from '../connections/index.js';
import type { Task } from '../pipelines/index.js';
import { bindRun, EMIT_LINEAGE } from '../runs/index.js';
import { type LineageRun, type LineageSources, runEvents, type TaskFacts } from './run-events.js';
import { traceProcess } from './trace-process.js';

const END_TYPES: ReadonlySet<LineageEventType> = new Set(['COMPLETE', 'FAIL', 'ABORT']);

const RUN = `
SELECT run.*, pipeline."name" AS "pipeline_name", workspace."slug" AS "workspace_slug",
  ARRAY(SELECT "event_type" FROM "lineage_event" WHERE "run_id" = run."id") AS "told",
  coalesce((SELECT jsonb_agg(to_jsonb(task) ORDER BY task."position") FROM "run_task" task WHERE task."run_id" = run."id"), '[]') AS "tasks"
FROM "run" JOIN "pipeline" ON pipeline."id" = run."pipeline_id" JOIN "workspace" ON workspace."id" = run."workspace_id"
WHERE run."id" = $1 AND run."started_at" IS NOT NULL`;

interface RunRow {
  id: string;
  organization_id: string;
  workspace_id: string;
  workspace_slug: string;
  pipeline_name: string;
  yaml_definition: string;
  parameters: Record<string, unknown>;
  state: RunState;
  error: string | null;
  retry_of: string | null;
  first_run_id: string | null;
  started_at: Date;
  logical_time: Date | null;
  finished_at: Date | null;
  told: LineageEventType[];
  tasks: { task_id: string; columns: ResultColumn[] | null; rows: number | null; bytes: number | null }[];
}

/** RUNNING is not kept behind the end: the run's row is locked, so that it cannot end meanwhile. */
const KEEP = `
WITH run AS (SELECT "finished_at" FROM "run" WHERE "id" = $3 FOR SHARE)
INSERT INTO "lineage_event" ("organization_id", "workspace_id", "run_id", "event_type", "event_time", "event", "posted_at")
SELECT $1, $2, $3, event."eventType", event."eventTime", event."event", $5::timestamptz
FROM run, jsonb_to_recordset($4::jsonb) AS event ("eventType" text, "eventTime" timestamptz, "event" jsonb)
WHERE event."eventType" <> 'RUNNING' OR run."finished_at" IS NULL
ON CONFLICT ("run_id", "event_type") DO NOTHING`;

/**
 * Keeps the OpenLineage events of a run as far as it has come; said again, nothing is added or worked out. They are made
 * from what the run left in the database, so a run is never slower for them and a crash loses none.
 */
export async function emitRunEvents(services: Services, runId: string, signal: AbortSignal): Promise<void> {
  const now = services.now();
  const pool = await nativePool(services.orm);
  const { rows } = await pool.query<RunRow>({ text: RUN, values: [runId], types: nativeTypes });
  const [row] = rows;
  if (!row || isAllTold(row)) return;
  const tasks = tasksOf(services, row);
  const connections = await targetsOf(services, row, tasks);
  const facts = new Map(
    row.tasks.map((task): [string, TaskFacts] => [task.task_id, { ...task, columns: task.columns ?? [] }]),
  );
  const events = await runEvents({
    run: runOf(row),
    tasks,
    facts,
    connections,
    filesBase: `${services.config.dataDir}/files`,
    told: new Set(row.told),
    trace: (...work) => traceWithinBounds(services, runId, work, signal),
    now,
  });
  if (events.length === 0) return;
  const nobodyWaits = services.config.openlineageUrl === undefined ? services.now() : null;
  await pool.query(KEEP, [
    row.organization_id,
    row.workspace_id,
    row.id,
    JSON.stringify(events),
    nobodyWaits,
  ]);
}

function isAllTold({ told, finished_at }: RunRow): boolean {
  return finished_at !== null && told.includes('START') && told.some((type) => END_TYPES.has(type));
}

/** What is beyond the bounds is left out of the event, which is kept all the same: so it is tried and told of once. */
async function traceWithinBounds(
  { log }: Services,
  runId: string,
  [tasks, columns, datasets]: Parameters<LineageSources['trace']>,
  signal: AbortSignal,
): ReturnType<LineageSources['trace']> {
  const left = (reason: string) => {
    log.warn({ runId, reason }, 'column lineage of the run left out');
    return undefined;
  };
  try {
    const answer = await traceProcess.run({ tasks, columns, datasets }, signal);
    return 'tooLarge' in answer ? left(answer.tooLarge) : answer;
  } catch (error) {
    signal.throwIfAborted();
    return left(error instanceof Error ? error.message : String(error));
  }
}

function runOf(row: RunRow): LineageRun {
  return {
    id: row.id,
    state: row.state,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    error: row.error,
    pipelineName: row.pipeline_name,
    workspaceSlug: row.workspace_slug,
    retryOf: row.retry_of,
    firstRunId: row.first_run_id,
  };
}

/** None where nothing could be bound: such a run has failed for that, and has read and written nothing. */
function tasksOf(services: Services, row: RunRow): readonly Task[] {
  try {
    return bindRun(services, {
      ...runOf(row),
      logicalTime: row.logical_time ?? row.started_at,
      parameters: row.parameters,
      yamlDefinition: row.yaml_definition,
    }).graph.tasks;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [];
  }
}

/** A connection that was removed meanwhile leaves its dataset unnamed. */
async function targetsOf(
  services: Services,
  row: RunRow,
  tasks: readonly { spec: object }[],
): Promise<Map<string, ConnectionTarget>> {
  const owner = { organizationId: row.organization_id, workspaceId: row.workspace_id };
  const names = new Set(
    tasks.flatMap(({ spec }) =>
      'connection' in spec && typeof spec.connection === 'string' ? [spec.connection] : [],
    ),
  );
  const found = await Promise.all(
    [...names].map((name) =>
      connectionTarget(services, owner, name).then(
        (target): [string, ConnectionTarget][] => [[name, target]],
        () => [],
      ),
    ),
  );
  return new Map(found.flat());
}

const MISSING = `
SELECT run."id" FROM "run"
WHERE run."finished_at" > now() - interval '1 day' AND run."started_at" IS NOT NULL AND NOT EXISTS (
  SELECT FROM "lineage_event" WHERE "run_id" = run."id" AND "event_type" IN ('COMPLETE', 'FAIL', 'ABORT'))
ORDER BY run."finished_at" LIMIT 200`;

/** Runs whose end was not told, because a process ended before it could; of one that never began there is nothing to tell. */
export async function sweepLineage(services: Services): Promise<void> {
  const pool: Pool = await nativePool(services.orm);
  const { rows } = await pool.query<{ id: string }>(MISSING);
  for (const { id } of rows) await services.jobs.enqueue(EMIT_LINEAGE, { runId: id });
}
