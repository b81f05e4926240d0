import type { DuckDBConnection } from '@duckdb/node-api';
import { EngineError } from '../engine-error.js';
import { describeColumns, inputOf } from './run-files.js';
import { assertReadsOnly } from './select-only.js';
import { identifier } from './sql-text.js';
import type { TaskContext } from './task-context.js';

/** The column of a staging table that tells which rows are to go; a space keeps it apart from columns of inputs. */
export const DELETES = 'opsgraph delete';

/** The condition as an expression over the input that is never null; undefined without one. Throws EngineError TARGET. */
export async function deleteExpression(
  context: TaskContext,
  connection: DuckDBConnection,
  deleteWhen: string | undefined,
): Promise<string | undefined> {
  if (deleteWhen === undefined) return undefined;
  const input = identifier(context.task.inputs[0] ?? '');
  const select = `SELECT (${deleteWhen}\n) AS condition FROM ${input}`;
  await assertReadsOnly(connection, select, context.task.inputs);
  const columns = await describeColumns(
    connection,
    `(SELECT (${deleteWhen}\n) AS condition FROM ${inputOf(context)} AS ${input})`,
  );
  if (columns.length !== 1 || columns[0]?.type !== 'BOOLEAN') {
    throw new EngineError('TARGET', 'deleteWhen must be one expression that is true or false.');
  }
  return `coalesce((${deleteWhen}\n), false)`;
}
