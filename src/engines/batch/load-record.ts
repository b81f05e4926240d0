import type { Client } from 'pg';
import { EngineError } from '../engine-error.js';

/**
 * opsgraph.load in the target database remembers which task of which run has committed. Its row is written in the
 * same transaction as the data, so a run resumed after a crash knows, and never writes a target twice.
 */
const CREATE = `
  SELECT pg_advisory_xact_lock(hashtextextended('opsgraph.load', 0));
  CREATE SCHEMA IF NOT EXISTS opsgraph;
  CREATE TABLE IF NOT EXISTS opsgraph.load (
    run_id text NOT NULL, task_id text NOT NULL, rows bigint NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (run_id, task_id))`;

/** A run is never resumed after this long. */
const KEPT = '90 days';

export async function prepareLoadRecords(client: Client): Promise<void> {
  const { rows } = await client.query<{ present: boolean }>(
    "SELECT to_regclass('opsgraph.load') IS NOT NULL AS present",
  );
  if (!rows[0]?.present) {
    // Several statements in one simple query are one transaction, which the lock keeps to one creator at a time.
    await client.query(CREATE).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError(
        'TARGET',
        `The connection's user cannot create the table opsgraph.load, which makes loads safe to repeat: ${reason}`,
        { cause },
      );
    });
  }
  await client.query(`DELETE FROM opsgraph.load WHERE finished_at < now() - interval '${KEPT}'`);
}

/** How many rows the task has already committed, or undefined. */
export async function committedRows(
  client: Client,
  runId: string,
  taskId: string,
): Promise<number | undefined> {
  const { rows } = await client.query<{ rows: string }>(
    'SELECT rows FROM opsgraph.load WHERE run_id = $1 AND task_id = $2',
    [runId, taskId],
  );
  return rows[0] && Number(rows[0].rows);
}

/**
 * Claims the load inside the caller's transaction; false when it is already committed. A second worker at the same
 * task waits here until the first has committed or rolled back.
 */
export async function claimLoad(
  client: Client,
  runId: string,
  taskId: string,
  rows: number,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'INSERT INTO opsgraph.load (run_id, task_id, rows) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [runId, taskId, rows],
  );
  return rowCount === 1;
}

/** For a claim made before the rows could be counted. */
export async function recordLoadedRows(
  client: Client,
  runId: string,
  taskId: string,
  rows: number,
): Promise<void> {
  await client.query('UPDATE opsgraph.load SET rows = $3 WHERE run_id = $1 AND task_id = $2', [
    runId,
    taskId,
    rows,
  ]);
}
