import type { DuckDBConnection } from '@duckdb/node-api';
import type { ResultColumn } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import { describeColumns } from '../run-files.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';

/** Builds the one SELECT that a transformation is; its inputs are views, or tables, under their ids. */
export type SelectBuilder<Spec> = (
  context: TaskContext,
  connection: DuckDBConnection,
  spec: Spec,
) => Promise<string> | string;

/** An input as it stands behind FROM, and what it has. Names are compared as DuckDB does: without regard to case. */
export interface InputTable {
  from: string;
  columns: readonly ResultColumn[];
}

/** The inputs of a task, in their order. @throws EngineError SQL when there are not as many as it takes */
export async function inputTables(
  { task }: TaskContext,
  connection: DuckDBConnection,
  count: number,
): Promise<InputTable[]> {
  if (task.inputs.length !== count) {
    throw new EngineError('SQL', `"${task.id}" takes ${count} inputs, not ${task.inputs.length}.`);
  }
  return Promise.all(
    task.inputs.map(async (input) => {
      const from = identifier(input);
      return { from, columns: await describeColumns(connection, from) };
    }),
  );
}

/** The only input of a task. @throws EngineError SQL */
export async function inputTable(context: TaskContext, connection: DuckDBConnection): Promise<InputTable> {
  const [input] = await inputTables(context, connection, 1);
  if (!input) throw new EngineError('SQL', `"${context.task.id}" has no input.`);
  return input;
}

/** The input's own spelling of a column. @throws EngineError SQL naming the column and those there are */
export function columnOf({ columns, from }: InputTable, name: string): ResultColumn {
  const column = columns.find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (column) return column;
  const known = columns.map((each) => each.name).join(', ');
  throw new EngineError('SQL', `The input ${from} has no column "${name}" (columns: ${known}).`);
}

/** @throws EngineError SQL when two columns of the result would have one name */
export function assertDistinct(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name.toLowerCase())) {
      throw new EngineError('SQL', `Two columns of the result would be named "${name}".`);
    }
    seen.add(name.toLowerCase());
  }
}
