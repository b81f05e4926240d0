import type { DuckDBConnection } from '@duckdb/node-api';
import type { ResultColumn, TaskOutcome } from '../../engine.js';
import type { MysqlTargetSpec } from '../../task-spec.js';
import { DELETES, deleteExpression } from '../delete-when.js';
import { widened } from '../load-input.js';
import { type MysqlClient, withMysql } from '../mysql-client.js';
import {
  assertMysqlKeysUsable,
  createMysqlStaging,
  indexMysqlStaging,
  type MysqlLoadPlan,
  mysqlWriteStatements,
  planMysqlLoad,
  prepareMysqlTarget,
  STAGING,
} from '../mysql-load.js';
import {
  claimMysqlLoad,
  committedMysqlRows,
  lockMysqlTables,
  prepareMysqlLoadRecords,
} from '../mysql-load-record.js';
import { mysqlIdentifier } from '../mysql-text.js';
import { mysqlWriteRule } from '../mysql-types.js';
import { describeColumns, inputOf } from '../run-files.js';
import { identifier } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';

/** Every server takes a statement of this size; the smallest default is 16 MiB. */
const STATEMENT_BYTES = 1 << 20;

/**
 * Loads the input into a table: INSERTs of many rows into a staging table, then one transaction that changes the target
 * and notes that it did. Not LOAD DATA LOCAL, which many servers refuse and which turns errors into warnings.
 */
export function runMysqlTarget(context: TaskContext, spec: MysqlTargetSpec): Promise<TaskOutcome> {
  const { task, options } = context;
  return withMysql(context, async (client) => {
    await prepareMysqlLoadRecords(client);
    const earlier = await committedMysqlRows(client, options.runId, task.id);
    if (earlier !== undefined) return alreadyDone(context, spec, earlier);
    return withDuckDb(context, 'sandbox', async (connection) => {
      const columns = await describeColumns(connection, inputOf(context));
      const plan = await planOf(client, spec, columns);
      await createMysqlStaging(client, plan);
      const { rows, bytes } = await upload(context, client, connection, spec, columns);
      await indexMysqlStaging(client, plan);
      await assertMysqlKeysUsable(client, plan);
      await lockMysqlTables(client, [spec.table]);
      // Looked at once more: another load may have made or widened the table meanwhile.
      const present = await planOf(client, spec, columns);
      if (!(await commitLoad(context, client, present, rows))) return alreadyDone(context, spec, rows);
      const healing = widened(spec.table, present.added);
      for (const { reason } of healing) context.log('WARN', `${task.id}: ${reason}`);
      context.log('INFO', `${task.id}: ${rows} rows to ${spec.table} of ${spec.connection} (${spec.mode})`);
      return { rows, bytes, output: spec.table, columns, ...(healing.length > 0 && { healing }) };
    });
  });
}

function planOf(
  client: MysqlClient,
  spec: MysqlTargetSpec,
  columns: readonly ResultColumn[],
): Promise<MysqlLoadPlan> {
  return planMysqlLoad(
    client,
    spec,
    columns.map(({ name, type }) => ({ name, ...mysqlWriteRule(type) })),
  );
}

function alreadyDone(context: TaskContext, spec: MysqlTargetSpec, rows: number): TaskOutcome {
  context.log(
    'INFO',
    `${context.task.id}: an earlier attempt of this run already wrote ${rows} rows to ${spec.table}`,
  );
  return { rows, output: spec.table, alreadyDone: true };
}

/** DuckDB writes each row as the literals of a VALUES list; here they only become statements. */
async function upload(
  context: TaskContext,
  client: MysqlClient,
  connection: DuckDBConnection,
  spec: MysqlTargetSpec,
  columns: readonly ResultColumn[],
): Promise<{ rows: number; bytes: number }> {
  const literals = columns.map(({ name, type }) => mysqlWriteRule(type).literal(identifier(name)));
  const names = columns.map(({ name }) => mysqlIdentifier(name));
  const deletes = await deleteExpression(context, connection, spec.deleteWhen);
  if (deletes) {
    literals.push(`(${deletes})::TINYINT::VARCHAR`);
    names.push(mysqlIdentifier(DELETES));
  }
  const input = `${inputOf(context)} AS ${identifier(context.task.inputs[0] ?? '')}`;
  const result = await connection.stream(
    `SELECT '(' || concat_ws(',', ${literals.join(', ')}) || ')' FROM ${input}`,
  );
  const head = `INSERT INTO ${STAGING} (${names.join(', ')}) VALUES `;
  const sent = { rows: 0, bytes: 0 };
  let waiting: string[] = [];
  let size = 0;
  const send = async () => {
    if (waiting.length === 0) return;
    const sql = head + waiting.join(',');
    await client.change(sql);
    sent.rows += waiting.length;
    sent.bytes += Buffer.byteLength(sql);
    context.progress(0, sent.rows);
    waiting = [];
    size = 0;
  };
  for (
    let chunk = await result.fetchChunk();
    chunk && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    for (const value of chunk.getColumnValues(0)) {
      const text = String(value);
      if (size + text.length > STATEMENT_BYTES) await send();
      waiting.push(text);
      size += text.length;
    }
  }
  await send();
  return sent;
}

/** False when another attempt committed first; then nothing was changed. */
async function commitLoad(
  context: TaskContext,
  client: MysqlClient,
  plan: MysqlLoadPlan,
  rows: number,
): Promise<boolean> {
  await prepareMysqlTarget(client, plan);
  await client.change('START TRANSACTION');
  try {
    if (!(await claimMysqlLoad(client, context.options.runId, context.task.id, rows))) {
      await client.change('ROLLBACK');
      return false;
    }
    for (const statement of mysqlWriteStatements(plan)) await client.change(statement);
    await client.change('COMMIT');
    return true;
  } catch (error) {
    await client.change('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
