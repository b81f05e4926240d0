import type { DuckDBConnection } from '@duckdb/node-api';
import type { TransformationSpec } from '../../task-spec.js';
import { exactSelection, resultOf, type Selection } from '../run-files.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';
import { aggregateSelect } from './aggregate-select.js';
import { castSelect } from './cast-select.js';
import { deduplicateSelect } from './deduplicate-select.js';
import { filterSelect } from './filter-select.js';
import { joinSelect } from './join-select.js';
import { maskSelect } from './mask-select.js';
import { renameSelect } from './rename-select.js';
import type { SelectBuilder } from './select-builder.js';
import { sqlSelect } from './sql-select.js';

/** What is one SELECT; the others are carried out by runners of their own. */
const BUILDERS: { [S in TransformationSpec as S['type']]?: SelectBuilder<S> } = {
  aggregate: aggregateSelect,
  cast: castSelect,
  deduplicate: deduplicateSelect,
  filter: filterSelect,
  join: joinSelect,
  mask: maskSelect,
  rename: renameSelect,
  sql: sqlSelect,
};

/**
 * The SELECT of a transformation whose columns Parquet keeps exactly. Inputs that `bound` does not name are made views
 * over their results; the transformation itself becomes a view under a name no SQL of an author can hold.
 */
export async function transformationSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  bound: ReadonlySet<string> = new Set(),
): Promise<Selection> {
  const { task } = context;
  for (const input of task.inputs) {
    if (bound.has(input)) continue;
    await connection.run(`CREATE TEMP VIEW ${identifier(input)} AS FROM ${resultOf(context, input)}`);
  }
  const build = BUILDERS[task.spec.type as keyof typeof BUILDERS] as SelectBuilder<unknown> | undefined;
  if (!build) throw new Error(`A task of type ${task.spec.type} is no SELECT.`);
  // Holds a space, which no task id may, so the author's SQL cannot name it.
  const view = identifier(`result of ${task.id}`);
  // A prefix only: text that is one statement by itself cannot break out of it as it could out of parentheses.
  await connection.run(`CREATE TEMP VIEW ${view} AS ${await build(context, connection, task.spec)}`);
  return exactSelection(connection, view);
}
