import type { DuckDBConnection } from '@duckdb/node-api';
import { literal } from './sql-text.js';

/**
 * Columns of a Parquet file that are doubles and have values beyond 64 bits, which were perhaps whole numbers before they
 * were recognised as doubles. Told by the file's statistics, without its rows.
 */
export async function wideDoubles(connection: DuckDBConnection, path: string): Promise<string[]> {
  const found = await connection.runAndReadAll(`
    SELECT path_in_schema FROM parquet_metadata(${literal(path)}) WHERE type = 'DOUBLE' GROUP BY path_in_schema, column_id
    HAVING max(stats_max_value::DOUBLE) >= 2::DOUBLE ** 64 OR min(stats_min_value::DOUBLE) <= -(2::DOUBLE ** 63)
    ORDER BY column_id`);
  // A path's first part is the column.
  return [...new Set(found.getRows().map(([parts]) => String(parts).split(', ')[0] ?? ''))];
}
