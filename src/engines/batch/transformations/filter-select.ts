import type { DuckDBConnection } from '@duckdb/node-api';
import type { FilterTransformationSpec } from '../../task-spec.js';
import { assertExpression, bindExpression } from '../author-expression.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';
import { onlyInput } from './relation.js';

/** The rows for which `where` is true: where it is null, the row is left out. */
export async function filterSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  { where }: FilterTransformationSpec,
): Promise<string> {
  const input = await onlyInput(context, connection);
  const author = { field: 'where', text: where };
  await assertExpression(connection, author, input);
  const before = `SELECT * FROM ${identifier(input.name)} WHERE (\n`;
  await bindExpression(connection, before, author, '\n)');
  return `${before}${where}\n)`;
}
