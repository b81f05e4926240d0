import type { DuckDBConnection } from '@duckdb/node-api';
import { EngineError } from '../engine-error.js';
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

/**
 * The condition that a row is to be read in this attempt, with WHERE; empty for all rows. `compare` writes a comparison
 * of the column with a watermark in the source's own SQL.
 */
export function windowOf(
  context: TaskContext,
  incremental: Incremental | undefined,
  column: string,
  compare: (operator: '>' | '<=', watermark: string) => string,
): string {
  if (!incremental) return '';
  const { until } = context.attempt;
  if (until === null) return ' WHERE 1 = 0';
  const from = watermarkOf(context, incremental);
  const conditions = from === undefined ? [] : [compare('>', from)];
  if (until !== undefined) {
    const below = compare('<=', until);
    conditions.push(from === undefined ? `(${below} OR ${column} IS NULL)` : below);
  }
  return conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
}

/** The same in DuckDB's SQL; the literal takes the column's own type. */
export function beyondWatermark(context: TaskContext, incremental: Incremental | undefined): string {
  const column = identifier(incremental?.column ?? '');
  return windowOf(
    context,
    incremental,
    column,
    (operator, watermark) => `${column} ${operator} ${literal(watermark)}`,
  );
}

/** Texts of the greatest values there are, by the DuckDB types that have them. */
const BEYOND_ALL = /^(-?nan|inf|infinity)$/;
const UNBOUNDED = /^(FLOAT|DOUBLE|DATE|TIMESTAMP)/;

/**
 * What the next run starts from: the greatest value in the task's result, as text.
 * @throws EngineError SOURCE when nothing could ever be greater
 */
export async function newWatermark(
  context: TaskContext,
  connection: DuckDBConnection,
  incremental: Incremental | undefined,
): Promise<{ watermark?: string }> {
  if (!incremental) return {};
  const column = identifier(incremental.column);
  const found = await connection.runAndReadAll(
    `SELECT max(${column})::VARCHAR, typeof(max(${column})) FROM ${resultOf(context, context.task.id)}`,
  );
  const [watermark, type] = found.getRows()[0] ?? [];
  if (typeof watermark !== 'string') return {};
  if (UNBOUNDED.test(String(type)) && BEYOND_ALL.test(watermark)) {
    throw unusableWatermark(incremental, `it holds ${watermark}, and later runs would find nothing beyond`);
  }
  return { watermark };
}

/**
 * The column to read by. Where DuckDB orders its values otherwise than their source, rows would be read twice, or never.
 * @throws EngineError SOURCE when it is that, or there is none
 */
export function watermarkColumn<Column extends { name: string; rule: { type: string } }>(
  incremental: Incremental,
  columns: readonly Column[],
  isOrderedAlike: (column: Column) => boolean,
): Column {
  const found = columns.find(({ name }) => name === incremental.column);
  if (!found) {
    throw new EngineError(
      'SOURCE',
      `The source has no column "${incremental.column}" to read incrementally.`,
    );
  }
  if (isOrderedAlike(found)) return found;
  throw unusableWatermark(
    incremental,
    `its values are read as ${found.rule.type}, which is ordered otherwise`,
  );
}

function unusableWatermark({ column }: Incremental, why: string): EngineError {
  return new EngineError('SOURCE', `The column "${column}" cannot be read incrementally: ${why}.`);
}
