import type { DuckDBConnection } from '@duckdb/node-api';
import type { QualityCheckResult, ResultColumn } from '../../engine.js';
import type { TaskContext } from '../task-context.js';

/** What checks are tried on: a view over the saved result. */
export interface Checked {
  context: TaskContext;
  connection: DuckDBConnection;
  /** A quoted name. */
  from: string;
  columns: readonly ResultColumn[];
  /** Milliseconds since 1970. */
  now: number;
}

export type Found = Omit<QualityCheckResult, 'index'>;
