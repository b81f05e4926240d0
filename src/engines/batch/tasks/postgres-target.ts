import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Client } from 'pg';
import copyStreams from 'pg-copy-streams';
import type { TaskOutcome } from '../../engine.js';
import type { PostgresTargetSpec } from '../../task-spec.js';
import { claimLoad, committedRows, prepareLoadRecords } from '../load-record.js';
import { withPostgres } from '../postgres-client.js';
import {
  assertKeysUsable,
  createStaging,
  type LoadColumn,
  type LoadPlan,
  planLoad,
  writeStatements,
} from '../postgres-load.js';
import { writeRule } from '../postgres-types.js';
import { copyTo, inputOf, withScratchFile } from '../run-files.js';
import { identifier } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';

/**
 * Loads the input into a table: COPY into a staging table, then one transaction that changes the target and notes
 * that it did. A failed or cancelled load leaves the target as it was; a repeated one finds the note and does nothing.
 */
export function runPostgresTarget(context: TaskContext, spec: PostgresTargetSpec): Promise<TaskOutcome> {
  return withPostgres(context, async (client) => {
    await prepareLoadRecords(client);
    const { runId } = context.options;
    const earlier = await committedRows(client, runId, context.task.id);
    if (earlier !== undefined) return alreadyDone(context, spec, earlier);
    return withScratchFile(context, 'csv', async (csv) => {
      const columns = await withDuckDb(context, 'sandbox', (connection) =>
        exportCsv(context, connection, csv),
      );
      const plan = await planLoad(client, spec, columns);
      await createStaging(client, plan);
      const rows = await upload(context, client, plan, csv);
      await assertKeysUsable(client, plan);
      if (!(await commitLoad(context, client, plan, rows))) return alreadyDone(context, spec, rows);
      context.log(
        'INFO',
        `${context.task.id}: ${rows} rows to ${spec.table} of ${spec.connection} (${spec.mode})`,
      );
      return { rows, output: spec.table };
    });
  });
}

function alreadyDone(context: TaskContext, spec: PostgresTargetSpec, rows: number): TaskOutcome {
  context.log(
    'INFO',
    `${context.task.id}: an earlier attempt of this run already wrote ${rows} rows to ${spec.table}`,
  );
  return { rows, output: spec.table, alreadyDone: true };
}

async function exportCsv(
  context: TaskContext,
  connection: DuckDBConnection,
  csv: string,
): Promise<LoadColumn[]> {
  const input = inputOf(context);
  const described = await connection.runAndReadAll(
    `SELECT column_name, column_type FROM (DESCRIBE FROM ${input})`,
  );
  const columns = described
    .getRows()
    .map(([name, type]) => ({ name: String(name), rule: writeRule(String(type)) }));
  const list = columns
    .map(({ name, rule }) => `${rule.select(identifier(name))} AS ${identifier(name)}`)
    .join(', ');
  // Every value quoted and null not, as PostgreSQL's CSV wants it.
  await copyTo(
    connection,
    `SELECT ${list} FROM ${input}`,
    csv,
    "FORMAT csv, HEADER false, FORCE_QUOTE *, NULLSTR '', QUOTE '\"', ESCAPE '\"', DELIMITER ','",
  );
  return columns.map(({ name, rule }) => ({ name, type: rule.type }));
}

async function upload(context: TaskContext, client: Client, plan: LoadPlan, csv: string): Promise<number> {
  const list = plan.columns.map(({ name }) => identifier(name)).join(', ');
  const copy = client.query(
    copyStreams.from(`COPY ${plan.staging} (${list}) FROM STDIN WITH (FORMAT csv, NULL '', ENCODING 'UTF8')`),
  );
  await pipeline(createReadStream(csv, { highWaterMark: 1 << 20 }), copy, { signal: context.signal });
  return copy.rowCount;
}

/** False when another attempt committed first; then nothing was changed. */
async function commitLoad(
  context: TaskContext,
  client: Client,
  plan: LoadPlan,
  rows: number,
): Promise<boolean> {
  await client.query('BEGIN');
  try {
    if (!(await claimLoad(client, context.options.runId, context.task.id, rows))) {
      await client.query('ROLLBACK');
      return false;
    }
    for (const statement of writeStatements(plan)) await client.query(statement);
    await client.query('COMMIT');
    return true;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
