import type { DuckDBConnection } from '@duckdb/node-api';
import { EngineError } from '../engine-error.js';
import { assertExpression } from './author-expression.js';
import { describeColumns, inputOf } from './run-files.js';
import { identifier } from './sql-text.js';
import type { TaskContext } from './task-context.js';

/** The column of a staging table that tells which rows are to go; a space keeps it apart from columns of inputs. */
export const DELETES = 'opsgraph delete';

/**
 * The condition as an expression over the input that is never null; undefined without one.
 * @throws EngineError SQL unless it is one expression over the input's columns, TARGET when that is no boolean
 */
export async function deleteExpression(
  context: TaskContext,
  connection: DuckDBConnection,
  deleteWhen: string | undefined,
): Promise<string | undefined> {
  if (deleteWhen === undefined) return undefined;
  const [name = ''] = context.task.inputs;
  const from = inputOf(context);
  const input = { name, columns: await describeColumns(connection, from) };
  await assertExpression(connection, { field: 'deleteWhen', text: deleteWhen }, input);
  const [condition] = await describeColumns(
    connection,
    `(SELECT (\n${deleteWhen}\n) FROM ${from} AS ${identifier(name)})`,
  );
  if (condition?.type !== 'BOOLEAN') {
    throw new EngineError('TARGET', 'deleteWhen must be one expression that is true or false.');
  }
  return `coalesce((\n${deleteWhen}\n), false)`;
}
