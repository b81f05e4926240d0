import type { DuckDBConnection } from '@duckdb/node-api';
import type { TaskContext } from '../task-context.js';

/** Builds the one SELECT that a transformation is; its inputs are views, or tables, under their ids. */
export type SelectBuilder<Spec> = (
  context: TaskContext,
  connection: DuckDBConnection,
  spec: Spec,
) => Promise<string> | string;
