import type { DuckDBConnection } from '@duckdb/node-api';
import type { Incremental } from '../task-spec.js';
import { resultOf } from './run-files.js';
import { identifier, literal } from './sql-text.js';
import type { TaskContext } from './task-context.js';

/**
 * Rows strictly above the watermark are read. A first run without `initial` reads everything, rows without a value
 * included; later runs never see those again. Rows that come late with the watermark's own value are missed, so the
 * column should be one that only grows.
 */
export function watermarkOf(context: TaskContext, incremental: Incremental | undefined): string | undefined {
  if (!incremental) return undefined;
  return context.attempt.watermark ?? incremental.initial?.toString();
}

/** A condition in DuckDB's SQL; the literal takes the column's own type. */
export function beyondWatermark(context: TaskContext, incremental: Incremental | undefined): string {
  const watermark = watermarkOf(context, incremental);
  return incremental && watermark !== undefined
    ? ` WHERE ${identifier(incremental.column)} > ${literal(watermark)}`
    : '';
}

/** What the next run starts from: the greatest value in the task's result, as text. */
export async function newWatermark(
  context: TaskContext,
  connection: DuckDBConnection,
  incremental: Incremental | undefined,
): Promise<{ watermark?: string }> {
  if (!incremental) return {};
  const found = await connection.runAndReadAll(
    `SELECT max(${identifier(incremental.column)})::VARCHAR FROM ${resultOf(context, context.task.id)}`,
  );
  const [watermark] = found.getRows()[0] ?? [];
  return typeof watermark === 'string' ? { watermark } : {};
}
