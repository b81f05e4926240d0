import { createHash } from 'node:crypto';
import { EngineError } from '../engine-error.js';
import type { MysqlClient } from './mysql-client.js';
import { mysqlLiteral } from './mysql-text.js';

/**
 * `opsgraph_load` in the target database remembers which task of which run has committed, as opsgraph.load does in
 * PostgreSQL: its row is written in the transaction of the data, so a resumed run never writes a target twice.
 */
const CREATE = `CREATE TABLE IF NOT EXISTS opsgraph_load (
  run_id varchar(191) NOT NULL, task_id varchar(191) NOT NULL, row_count bigint NOT NULL,
  finished_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (run_id, task_id)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;

/** A run is never resumed after this long. */
const KEPT = '90 DAY';
const LOCK_SECONDS = 300;

export async function prepareMysqlLoadRecords(client: MysqlClient): Promise<void> {
  const found = await client.rows(
    "SELECT 1 FROM information_schema.tables WHERE table_schema = database() AND table_name = 'opsgraph_load'",
  );
  if (found.length === 0) {
    await client.change(CREATE).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError(
        'TARGET',
        `The connection's user cannot create the table opsgraph_load, which makes loads safe to repeat: ${reason}`,
        { cause },
      );
    });
  }
  // Looked for first, and then named by their key: to delete by age would wait for every load that is under way.
  const old = await client.rows<{ run_id: string; task_id: string }>(
    `SELECT run_id, task_id FROM opsgraph_load WHERE finished_at < now() - INTERVAL ${KEPT} LIMIT 1000`,
  );
  for (const { run_id, task_id } of old)
    await client.change(`DELETE FROM opsgraph_load WHERE ${keyOf(run_id, task_id)}`);
}

const keyOf = (runId: string, taskId: string) =>
  `run_id = ${mysqlLiteral(runId)} AND task_id = ${mysqlLiteral(taskId)}`;

/** How many rows the task has already committed, or undefined. */
export async function committedMysqlRows(
  client: MysqlClient,
  runId: string,
  taskId: string,
): Promise<number | undefined> {
  const [row] = await client.rows<{ row_count: string | number }>(
    `SELECT row_count FROM opsgraph_load WHERE ${keyOf(runId, taskId)}`,
  );
  return row && Number(row.row_count);
}

/**
 * Claims the load inside the caller's transaction; false when it is already committed. A second worker at the same
 * task waits here until the first has committed or rolled back.
 */
export async function claimMysqlLoad(
  client: MysqlClient,
  runId: string,
  taskId: string,
  rows: number,
): Promise<boolean> {
  const values = [mysqlLiteral(runId), mysqlLiteral(taskId), rows].join(', ');
  const added = await client.change(
    `INSERT INTO opsgraph_load (run_id, task_id, row_count) VALUES (${values}) ON DUPLICATE KEY UPDATE run_id = run_id`,
  );
  return added === 1;
}

/** For a claim made before the rows could be counted. */
export async function recordMysqlRows(
  client: MysqlClient,
  runId: string,
  taskId: string,
  rows: number,
): Promise<void> {
  await client.change(`UPDATE opsgraph_load SET row_count = ${rows} WHERE ${keyOf(runId, taskId)}`);
}

/**
 * One load of each table at a time, until the connection ends. A table lock would commit; and without any, two loads that
 * each find the other's keys missing would both insert them. They are locked in one order, whoever asks, so that no two
 * wait for each other.
 */
export async function lockMysqlTables(client: MysqlClient, tables: readonly string[]): Promise<void> {
  const [here] = await client.rows<{ name: string }>('SELECT database() AS name');
  // Some servers tell names apart by case and some do not; where one does, two tables share a lock.
  const full = tables.map((table) => (table.includes('.') ? table : `${here?.name}.${table}`).toLowerCase());
  for (const table of [...new Set(full)].sort()) await lock(client, table);
}

async function lock(client: MysqlClient, table: string): Promise<void> {
  // A lock's name holds 64 characters and belongs to the whole server.
  const name = `opsgraph.${createHash('sha1').update(table).digest('hex')}`;
  const [got] = await client.rows<{ locked: string | number | null }>(
    `SELECT get_lock(${mysqlLiteral(name)}, ${LOCK_SECONDS}) AS locked`,
  );
  if (Number(got?.locked) === 1) return;
  throw new EngineError('TARGET', `Another load of ${table} has not ended in ${LOCK_SECONDS / 60} minutes.`, {
    transient: true,
  });
}
