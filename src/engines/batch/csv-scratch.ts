import { fileLiteral, identifier, literal } from './sql-text.js';

/** A column on its way from a database through CSV into DuckDB. */
export interface ScratchColumn {
  name: string;
  /** Its name inside the engine's statements: a query may have two columns of one name, or an empty one. */
  alias: string;
  rule: {
    /** The DuckDB type of the column in the result. */
    type: string;
    /** The type the CSV reader is told, when the value needs `convert` before it has its own. */
    csvType?: string;
    convert?: (column: string) => string;
  };
}

/** One value may be this long in CSV; DuckDB holds two such buffers. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Every value is quoted and null is not: an empty string, a null and the text \\N stay three things. */
export function selectFromCsv(csv: string, columns: readonly ScratchColumn[]): string {
  const types = columns
    .map(({ alias, rule }) => `${alias}: ${literal(rule.csvType ?? rule.type)}`)
    .join(', ');
  const list = columns
    .map(({ name, alias, rule }) => `${rule.convert?.(alias) ?? alias} AS ${identifier(name)}`)
    .join(', ');
  // Not parallel: a parallel reader has to guess whether a line break lies inside quotes.
  return `SELECT ${list} FROM read_csv(${fileLiteral(csv)}, columns = {${types}}, auto_detect = false, header = false,
    delim = ',', quote = '"', escape = '"', nullstr = '\\N', allow_quoted_nulls = false, new_line = '\\n',
    parallel = false, max_line_size = ${MAX_LINE_BYTES}, buffer_size = ${MAX_LINE_BYTES * 2})`;
}
