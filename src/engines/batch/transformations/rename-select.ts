import type { DuckDBConnection } from '@duckdb/node-api';
import type { RenameTransformationSpec } from '../../task-spec.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';
import { assertDistinct, columnOf, onlyInput } from './relation.js';

/** Columns keep their places; with `keepOnlyNamed` they come in the order of the definition. */
export async function renameSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  { columns, keepOnlyNamed = false }: RenameTransformationSpec,
): Promise<string> {
  const input = await onlyInput(context, connection);
  const renamed = new Map(
    Object.entries(columns).map(([from, to]) => [columnOf(input, from, 'columns').name, to]),
  );
  assertDistinct([...Object.keys(columns)], 'columns');
  const kept = keepOnlyNamed ? [...renamed.keys()] : input.columns.map(({ name }) => name);
  const names = kept.map((name) => ({ name, to: renamed.get(name) ?? name }));
  assertDistinct(
    names.map(({ to }) => to),
    'columns',
  );
  const list = names.map(({ name, to }) => `${identifier(name)} AS ${identifier(to)}`);
  return `SELECT ${list.join(', ')} FROM ${identifier(input.name)}`;
}
