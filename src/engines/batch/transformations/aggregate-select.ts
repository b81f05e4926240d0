import type { DuckDBConnection } from '@duckdb/node-api';
import type { AggregateTransformationSpec } from '../../task-spec.js';
import { assertExpression, bindExpression } from '../author-expression.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';
import { assertDistinct, columnOf, onlyInput } from './relation.js';

/** One row for each combination of `groupBy`, nulls counting as equal; without it one row, of an empty input too. */
export async function aggregateSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  { groupBy = [], measures }: AggregateTransformationSpec,
): Promise<string> {
  const input = await onlyInput(context, connection);
  const keys = groupBy.map((key) => columnOf(input, key, 'groupBy').name);
  assertDistinct([...keys, ...Object.keys(measures)], 'measures');
  const columns = keys.map(identifier);
  // Grouped by nothing, a measure that is no aggregate is an error as it is in groups.
  const from = `FROM ${identifier(input.name)} GROUP BY ${columns.length > 0 ? columns.join(', ') : '()'}`;
  for (const [name, text] of Object.entries(measures)) {
    const author = { field: `measures.${name}`, text };
    await assertExpression(connection, author, input);
    await bindExpression(connection, 'SELECT (\n', author, `\n) ${from}`);
    columns.push(`(\n${text}\n) AS ${identifier(name)}`);
  }
  return `SELECT ${columns.join(', ')} ${from}`;
}
