import type { DuckDBConnection } from '@duckdb/node-api';
import type { TransformationSpec } from '../../task-spec.js';
import { exactSelect, resultOf } from '../run-files.js';
import { assertReadsOnly } from '../select-only.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';

/** Builds the one SELECT that a transformation is; its inputs are views, or tables, under their ids. */
type SelectBuilder<Spec> = (
  context: TaskContext,
  connection: DuckDBConnection,
  spec: Spec,
) => Promise<string> | string;

type Builders = { [S in TransformationSpec as S['type']]?: SelectBuilder<S> };

const BUILDERS: Builders = {
  sql: async ({ task }, connection, { sql }) => {
    await assertReadsOnly(connection, sql, task.inputs);
    // Binding the text on its own gives errors with the positions of the author's SQL.
    (await connection.prepare(sql)).destroySync();
    return sql;
  },
};

/**
 * The SELECT of a transformation whose columns Parquet keeps exactly. Inputs that `bound` does not name are made views
 * over their results; the transformation itself becomes a view under a name no SQL of an author can hold.
 */
export async function transformationSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  bound: ReadonlySet<string> = new Set(),
): Promise<string> {
  const { task } = context;
  for (const input of task.inputs) {
    if (bound.has(input)) continue;
    await connection.run(`CREATE TEMP VIEW ${identifier(input)} AS FROM ${resultOf(context, input)}`);
  }
  const build = BUILDERS[task.spec.type as keyof Builders] as SelectBuilder<unknown> | undefined;
  if (!build) throw new Error(`A task of type ${task.spec.type} is no SELECT.`);
  // Holds a space, which no task id may, so the author's SQL cannot name it.
  const view = identifier(`result of ${task.id}`);
  // A prefix only: text that is one statement by itself cannot break out of it as it could out of parentheses.
  await connection.run(`CREATE TEMP VIEW ${view} AS ${await build(context, connection, task.spec)}`);
  return exactSelect(connection, view);
}
