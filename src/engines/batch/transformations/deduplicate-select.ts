import type { DuckDBConnection } from '@duckdb/node-api';
import type { DeduplicateTransformationSpec } from '../../task-spec.js';
import { assertExpression, bindExpression } from '../author-expression.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';
import { columnOf, freeName, onlyInput } from './relation.js';

/**
 * The first row of each combination of the keys, in the order the input was read. Rows are numbered before anything
 * runs in parallel, so that equal terms are decided the same way each time. Nulls count as equal.
 */
export async function deduplicateSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  { keys, orderBy = [] }: DeduplicateTransformationSpec,
): Promise<string> {
  const input = await onlyInput(context, connection);
  for (const [index, text] of orderBy.entries()) {
    const author = { field: `orderBy[${index}]`, text };
    await assertExpression(connection, author, input, 'orderTerm');
    await bindExpression(connection, `SELECT 1 FROM ${identifier(input.name)} ORDER BY\n`, author, '\n');
  }
  const partition = keys.map((key) => identifier(columnOf(input, key, 'keys').name)).join(', ');
  const read = identifier(freeName(input, 'row read'));
  const terms = [...orderBy.map((term) => `${term}\n`), read].join(', ');
  const columns = input.columns.map(({ name }) => identifier(name)).join(', ');
  // The inner table keeps the input's name, which a term may be qualified with.
  const name = identifier(input.name);
  return `SELECT ${columns} FROM (
    SELECT *, row_number() OVER () AS ${read} FROM ${name}
  ) AS ${name} QUALIFY row_number() OVER (PARTITION BY ${partition} ORDER BY ${terms}) = 1 ORDER BY ${read}`;
}
