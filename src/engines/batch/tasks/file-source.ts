import { rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { TaskHealing, TaskOutcome } from '../../engine.js';
import type { ColumnTypes, CsvOptions, FileSourceSpec, Quarantine } from '../../task-spec.js';
import { withSourceFiles } from '../connected-files.js';
import { countRows } from '../counted-copy.js';
import { compressionOption } from '../file-ending.js';
import { setAside } from '../quarantine.js';
import { exactSelect, saveResult } from '../run-files.js';
import { fileLiteral, identifier, literal } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { beyondWatermark, newWatermark } from '../watermark.js';
import { wideDoubles } from '../wide-doubles.js';

const CSV_OPTION_NAMES: Record<keyof CsvOptions, string> = {
  delimiter: 'delim',
  header: 'header',
  quote: 'quote',
  escape: 'escape',
  nullValue: 'nullstr',
  decimalSeparator: 'decimal_separator',
  dateFormat: 'dateformat',
  timestampFormat: 'timestampformat',
};

/** Reads a file, or all files of a directory, as DuckDB reads that format, into the run's directory. */
export async function runFileSource(context: TaskContext, spec: FileSourceSpec): Promise<TaskOutcome> {
  const { task } = context;
  return withSourceFiles(context, spec, (files) =>
    withDuckDb(context, 'loader', async (connection) => {
      const beyond = beyondWatermark(context, spec.incremental);
      const { saved, healing } = spec.quarantine
        ? await saveOrSetAside(context, connection, spec, files, spec.quarantine)
        : { saved: await saveFiles(context, connection, spec, files, beyond), healing: [] };
      context.log('INFO', `${task.id}: ${saved.rows} rows from ${spec.path}`);
      if (spec.format !== 'parquet') await warnOfDoubles(context, connection, spec, saved.output);
      const watermark = await newWatermark(context, connection, spec.incremental);
      return { ...saved, ...watermark, ...(healing.length > 0 && { healing }) };
    }),
  );
}

async function warnOfDoubles(
  context: TaskContext,
  connection: DuckDBConnection,
  { path, columns = {} }: FileSourceSpec,
  output: string,
): Promise<void> {
  const names = (await wideDoubles(connection, output)).filter((name) => !Object.hasOwn(columns, name));
  if (names.length === 0) return;
  context.log(
    'WARN',
    `${context.task.id}: ${names.join(', ')} of ${path} has numbers beyond 64 bits, which are read as doubles of some 16 digits: name the type in "columns".`,
  );
}

async function saveFiles(
  context: TaskContext,
  connection: DuckDBConnection,
  spec: FileSourceSpec,
  files: readonly string[],
  where: string,
) {
  const from = fileReader(spec, files);
  // Only JSON is recognised as integers wide enough to need it, and describing a CSV would sample it twice.
  const isJson = spec.format === 'json' || spec.format === 'ndjson';
  const select = isJson ? await exactSelect(connection, from) : `FROM ${from}`;
  return saveResult(context, connection, select + where);
}

const REJECTS = 'rejected_values';
const SCANS = 'rejecting_scans';

/** The whole files are read and counted, also when only a part of them is beyond the watermark. */
async function saveOrSetAside(
  context: TaskContext,
  connection: DuckDBConnection,
  spec: FileSourceSpec,
  files: readonly string[],
  quarantine: Quarantine,
) {
  // DuckDB does not unite by name what it rejects from, so that is done file by file.
  const readers = files.map((file) => {
    const options = [
      fileLiteral(file),
      'hive_partitioning = false',
      ...parameters({ ...csvOptions(spec), ...compressionOption([file]) }),
      'store_rejects = true',
      'rejects_limit = 0',
      `rejects_table = ${literal(REJECTS)}`,
      `rejects_scan = ${literal(SCANS)}`,
    ];
    return `FROM read_csv(${options.join(', ')})`;
  });
  const beyond = beyondWatermark(context, spec.incremental);
  const whole = `(${readers.join(' UNION ALL BY NAME ')})`;
  if (!beyond) {
    const saved = await saveResult(context, connection, `FROM ${whole}`);
    const healing = await reject(context, connection, saved.rows, quarantine).catch(async (error) => {
      await rm(saved.output, { force: true });
      throw error;
    });
    return { saved, healing };
  }
  // A filter is pushed into the reader, and what it skips is not judged.
  const table = identifier('all rows');
  await connection.run(`CREATE TEMP TABLE ${table} AS FROM ${whole}`);
  const healing = await reject(context, connection, await countRows(connection, table), quarantine);
  return { saved: await saveResult(context, connection, `FROM ${table}${beyond}`), healing };
}

/** The row is counted without the header, as the quarantine of a cast counts its rows. */
async function reject(
  context: TaskContext,
  connection: DuckDBConnection,
  rows: number,
  quarantine: Quarantine,
): Promise<TaskHealing[]> {
  const from = `(SELECT parse_filename(s.file_path) AS file, r.line - s.has_header::INT AS row,
    r.column_name AS "column", r.error_message AS reason, r.csv_line AS raw
    FROM ${identifier(REJECTS)} r JOIN ${identifier(SCANS)} s USING (scan_id, file_id))`;
  const broken = await countRows(connection, `(SELECT DISTINCT file, row FROM ${from})`);
  return setAside(context, connection, { from, total: rows + broken, quarantine, kind: 'SOURCE' });
}

/** A FROM clause over the files. */
export function fileReader(spec: FileSourceSpec, files: readonly string[]): string {
  // Without hive_partitioning = false a directory named a=b on the way would add a column. To unite by name makes CSV
  // twice as slow (DuckDB 1.5.6, 10,000,000 rows), also where there is but one file.
  const shared = [
    `[${files.map(fileLiteral).join(', ')}]`,
    'hive_partitioning = false',
    ...(files.length > 1 ? ['union_by_name = true'] : []),
  ];
  const compression = parameters(compressionOption(files));
  switch (spec.format) {
    case 'parquet':
      return `read_parquet(${shared.join(', ')})`;
    case 'csv':
      return `read_csv(${[...shared, ...compression, ...parameters(csvOptions(spec))].join(', ')})`;
    default:
      return `read_json(${[...shared, ...compression, ...jsonOptions(spec.format, spec.columns)].join(', ')})`;
  }
}

/** A line may be as long. 10,000,000 rows take 545 ms, not 575 as with DuckDB's own buffers of 32 MB. */
const CSV_BUFFER_BYTES = 4 * 2 ** 20;

/** Options of read_csv, as SQL by their names: what the definition gives and what is ours to choose. */
export function csvOptions({ csv = {}, columns }: FileSourceSpec): Record<string, string> {
  const options = Object.entries(csv).map(([name, value]) => [
    CSV_OPTION_NAMES[name as keyof CsvOptions],
    typeof value === 'string' ? literal(value) : String(value),
  ]);
  return {
    buffer_size: String(CSV_BUFFER_BYTES),
    ...Object.fromEntries(options),
    ...(columns && { types: typeMap(columns) }),
  };
}

/** Named parameters of a function of DuckDB's. */
export function parameters(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).map(([name, value]) => `${name} = ${value}`);
}

/**
 * Options of read_json: the named columns with their types, or what all rows show, for a key that no row of a sample had
 * would be left out without a word. Of 200 keys with values of one type, or many that few rows have, DuckDB would make a
 * single column, a MAP; -1 stops both (1.5.6).
 */
export function jsonOptions(format: 'json' | 'ndjson', columns: ColumnTypes | undefined): string[] {
  const layout = `format = ${literal(format === 'json' ? 'auto' : 'newline_delimited')}`;
  return [
    layout,
    ...(columns ? [`columns = ${typeMap(columns)}`] : ['map_inference_threshold = -1', 'sample_size = -1']),
  ];
}

function typeMap(columns: ColumnTypes): string {
  return `{${Object.entries(columns)
    .map(([name, type]) => `${literal(name)}: ${literal(type)}`)
    .join(', ')}}`;
}
