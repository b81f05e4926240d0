import { BoundedProcess } from '../../bounded-process.js';
import type { ResultColumn } from '../../engines/engine.js';
import type { Task } from '../pipelines/index.js';
import type { ColumnLineage } from './column-lineage.js';
import type { DatasetId } from './dataset-name.js';

/** What traceColumns() is asked, of a whole run. */
export interface TraceWork {
  tasks: readonly Task[];
  columns: ReadonlyMap<string, readonly ResultColumn[]>;
  datasets: ReadonlyMap<string, DatasetId>;
}

/** Of the targets. */
export type TraceAnswer = ReadonlyMap<string, ColumnLineage> | { tooLarge: string };

/** On an idle processor 400 columns of a table take 1 s, and most SQL 20 ms. */
const DEADLINE_MS = 3_000;

/** What a column is made from is found in time that grows with the cube of the SQL: not on the server's thread. */
export const traceProcess = new BoundedProcess<TraceWork, TraceAnswer>(
  'domain/lineage/trace-child.js',
  DEADLINE_MS,
);
