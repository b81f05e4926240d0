import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Client } from 'pg';
import copyStreams from 'pg-copy-streams';
import type { TaskOutcome } from '../../engine.js';
import type { PostgresTargetSpec } from '../../task-spec.js';
import { DELETES, deleteExpression } from '../delete-when.js';
import { widened } from '../load-input.js';
import { claimLoad, committedRows, prepareLoadRecords } from '../load-record.js';
import { withPostgres } from '../postgres-client.js';
import {
  assertKeysUsable,
  createStaging,
  type LoadPlan,
  planLoad,
  readStagedArrays,
  writeStatements,
} from '../postgres-load.js';
import { isMadeMeanwhile, type LoadColumn } from '../postgres-new-table.js';
import { writeRule } from '../postgres-types.js';
import { copyTo, describeColumns, inputOf, withScratchFile } from '../run-files.js';
import { identifier } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';

interface InputColumn extends LoadColumn {
  duckDbType: string;
}

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
        exportCsv(context, connection, spec, csv),
      );
      const { plan, rows, isWritten } = await load(context, client, spec, columns, csv);
      if (!isWritten) return alreadyDone(context, spec, rows);
      context.log(
        'INFO',
        `${context.task.id}: ${rows} rows to ${spec.table} of ${spec.connection} (${spec.mode})`,
      );
      const { size } = await stat(csv);
      const healing = widened(spec.table, plan.added);
      for (const { reason } of healing) context.log('WARN', `${context.task.id}: ${reason}`);
      return {
        rows,
        bytes: size,
        output: spec.table,
        columns: columns.map(({ name, duckDbType }) => ({ name, type: duckDbType })),
        ...(healing.length > 0 && { healing }),
      };
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
  { deleteWhen }: PostgresTargetSpec,
  csv: string,
): Promise<InputColumn[]> {
  const input = inputOf(context);
  const described = await describeColumns(connection, input);
  const columns = described.map(({ name, type }) => ({ name, duckDbType: type, rule: writeRule(type) }));
  const deletes = await deleteExpression(context, connection, deleteWhen);
  const list = columns.map(({ name, rule }) => `${rule.select(identifier(name))} AS ${identifier(name)}`);
  if (deletes) list.push(`${deletes} AS ${identifier(DELETES)}`);
  // Every value quoted and null not, as PostgreSQL's CSV wants it.
  await copyTo(
    connection,
    `SELECT ${list.join(', ')} FROM ${input} AS ${identifier(context.task.inputs[0] ?? '')}`,
    csv,
    "FORMAT csv, HEADER false, FORCE_QUOTE *, NULLSTR '', QUOTE '\"', ESCAPE '\"', DELIMITER ','",
  );
  return columns.map(({ name, duckDbType, rule }) => ({ name, duckDbType, type: rule.type }));
}

interface Loaded {
  plan: LoadPlan;
  rows: number;
  /** False when another attempt committed first; then nothing was changed. */
  isWritten: boolean;
}

async function load(
  context: TaskContext,
  client: Client,
  spec: PostgresTargetSpec,
  columns: readonly LoadColumn[],
  csv: string,
): Promise<Loaded> {
  const plan = await planLoad(client, spec, columns);
  await createStaging(client, plan);
  const rows = await upload(context, client, plan, csv);
  await readStagedArrays(client, plan);
  await assertKeysUsable(client, plan);
  const result = await commitLoad(context, client, plan, rows);
  // The rows were staged with types of their own, which another load that made the table need not have taken.
  if (result === 'OVERTAKEN') return load(context, client, spec, columns, csv);
  return { plan, rows, isWritten: result === 'WRITTEN' };
}

async function upload(context: TaskContext, client: Client, plan: LoadPlan, csv: string): Promise<number> {
  const names = [...plan.columns.map(({ name }) => name), ...(plan.deletes ? [DELETES] : [])];
  const list = names.map(identifier).join(', ');
  const copy = client.query(
    copyStreams.from(`COPY ${plan.staging} (${list}) FROM STDIN WITH (FORMAT csv, NULL '', ENCODING 'UTF8')`),
  );
  await pipeline(createReadStream(csv, { highWaterMark: 1 << 20 }), copy, { signal: context.signal });
  return copy.rowCount;
}

/** Nothing was changed when another attempt at the task committed first, nor when another load has made the table. */
type CommitResult = 'WRITTEN' | 'ALREADY_DONE' | 'OVERTAKEN';

async function commitLoad(
  context: TaskContext,
  client: Client,
  plan: LoadPlan,
  rows: number,
): Promise<CommitResult> {
  await client.query('BEGIN');
  try {
    const isClaimed = await claimLoad(client, context.options.runId, context.task.id, rows);
    if (!isClaimed || (!plan.exists && (await isMadeMeanwhile(client, plan.target)))) {
      await client.query('ROLLBACK');
      return isClaimed ? 'OVERTAKEN' : 'ALREADY_DONE';
    }
    for (const statement of writeStatements(plan)) await client.query(statement);
    await client.query('COMMIT');
    return 'WRITTEN';
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
