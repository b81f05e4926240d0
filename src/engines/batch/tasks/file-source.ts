import type { TaskOutcome } from '../../engine.js';
import type { ColumnTypes, CsvOptions, FileSourceSpec } from '../../task-spec.js';
import { exactSelect, resultPath, saveResult } from '../run-files.js';
import { sourceFiles } from '../source-files.js';
import { fileLiteral, literal } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';

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
  const { task, options } = context;
  const files = await sourceFiles(spec, options);
  return withDuckDb(context, 'loader', async (connection) => {
    const from = fileReader(spec, files);
    // Only JSON is recognised as integers wide enough to need it, and describing a CSV would sample it twice.
    const select =
      spec.format === 'json' || spec.format === 'ndjson'
        ? await exactSelect(connection, from)
        : `FROM ${from}`;
    const { rows, bytes } = await saveResult(context, connection, select);
    context.log('INFO', `${task.id}: ${rows} rows from ${spec.path}`);
    return { rows, bytes, output: resultPath(context, task.id) };
  });
}

/** A FROM clause over the files. */
export function fileReader(spec: FileSourceSpec, files: readonly string[]): string {
  // Without hive_partitioning = false a directory named a=b on the way would add a column.
  const shared = [
    `[${files.map(fileLiteral).join(', ')}]`,
    'hive_partitioning = false',
    'union_by_name = true',
  ];
  switch (spec.format) {
    case 'parquet':
      return `read_parquet(${shared.join(', ')})`;
    case 'csv':
      return `read_csv(${[...shared, ...csvOptions(spec)].join(', ')})`;
    default:
      return `read_json(${[...shared, ...jsonOptions(spec.format, spec.columns)].join(', ')})`;
  }
}

function csvOptions({ csv = {}, columns }: FileSourceSpec): string[] {
  const options = Object.entries(csv).map(([name, value]) => {
    const option = CSV_OPTION_NAMES[name as keyof CsvOptions];
    return `${option} = ${typeof value === 'string' ? literal(value) : value}`;
  });
  return columns ? [...options, `types = ${typeMap(columns)}`] : options;
}

/** Options of read_json: the named columns with their types, or all that a sample shows. */
export function jsonOptions(format: 'json' | 'ndjson', columns: ColumnTypes | undefined): string[] {
  const layout = `format = ${literal(format === 'json' ? 'auto' : 'newline_delimited')}`;
  return columns ? [layout, `columns = ${typeMap(columns)}`] : [layout];
}

function typeMap(columns: ColumnTypes): string {
  return `{${Object.entries(columns)
    .map(([name, type]) => `${literal(name)}: ${literal(type)}`)
    .join(', ')}}`;
}
