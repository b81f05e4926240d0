import type { DuckDBConnection } from '@duckdb/node-api';
import type { ResultColumn } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import type { ColumnTypes } from '../../task-spec.js';
import { describeColumns } from '../run-files.js';
import { fileLiteral, identifier, literal } from '../sql-text.js';
import { jsonOptions } from '../tasks/file-source.js';
import { castOrFail } from '../transformations/cast-select.js';
import { type Relation, sameName } from '../transformations/relation.js';
import { isChanged, restored } from './row-transport.js';

/** What an author's code returned, beside the file it stands in. */
export interface Returned {
  rows: number;
  /** Of all columns; no two differ by case alone. */
  names: readonly string[];
  /** Columns with numbers that are not finite. */
  unbounded: ReadonlySet<string>;
}

/**
 * A SELECT over the NDJSON an author's code returned. With `declared`, exactly those columns, and a value that does not
 * cast fails the task. Else a column of the input keeps its type as long as every value still has it, and the types of
 * the others are read from all their values.
 */
export async function returnedRows(
  connection: DuckDBConnection,
  path: string,
  { rows, names, unbounded }: Returned,
  input: Relation,
  declared: ColumnTypes | undefined,
): Promise<string> {
  if (declared) return declaredRows(path, names, declared);
  if (rows === 0) return `SELECT * FROM ${identifier(input.name)} LIMIT 0`;
  if (names.length === 0) throw new EngineError('SQL', 'code: No row that transform returned has a column.');
  const options = jsonOptions('ndjson', undefined);
  const found = await describeColumns(
    connection,
    `read_json(${[fileLiteral(path), ...options, 'records = true'].join(', ')})`,
  );
  const known = found.flatMap(({ name }) => {
    const column = input.columns.find((each) => sameName(each.name, name));
    return column ? [{ name, type: column.type }] : [];
  });
  const kept = await unchanged(connection, path, known);
  const numbers = found.filter(({ name }) => unbounded.has(name) && !kept.some((each) => each.name === name));
  const doubles = await unchanged(
    connection,
    path,
    numbers.map(({ name }) => ({ name, type: 'DOUBLE' })),
  );
  const restorable = new Map([...kept, ...doubles].map(({ name, type }) => [name, type]));
  const types = found.map((column) =>
    restorable.has(column.name) ? { name: column.name, type: 'VARCHAR' } : column,
  );
  const list = found.map(({ name }) => {
    const type = restorable.get(name);
    return type === undefined
      ? identifier(name)
      : `${restored(identifier(name), type)} AS ${identifier(name)}`;
  });
  return `SELECT ${list.join(', ')} FROM ${reader(path, types)}`;
}

function declaredRows(path: string, names: readonly string[], declared: ColumnTypes): string {
  const entries = Object.entries(declared).map(([as, to]) => ({
    as: identifier(as),
    name: names.find((name) => sameName(name, as)) ?? as,
    to,
  }));
  const types = entries.map(({ name, to }) => ({ name, type: to === 'JSON' ? to : 'VARCHAR' }));
  const list = entries.map(({ as, name, to }) => {
    const value =
      to === 'JSON' ? identifier(name) : castOrFail({ name, from: 'what transform returned', to });
    return `${value} AS ${as}`;
  });
  return `SELECT ${list.join(', ')} FROM ${reader(path, types)}`;
}

/** The columns all of whose values are still of the type. */
async function unchanged(
  connection: DuckDBConnection,
  path: string,
  columns: readonly ResultColumn[],
): Promise<ResultColumn[]> {
  if (columns.length === 0) return [];
  const texts = columns.map(({ name }) => ({ name, type: 'VARCHAR' }));
  const counts = columns.map(({ name, type }) => {
    const column = identifier(name);
    return `count(*) FILTER (WHERE ${column} IS NOT NULL AND ${isChanged(column, type)})`;
  });
  const counted = await connection.runAndReadAll(`SELECT ${counts.join(', ')} FROM ${reader(path, texts)}`);
  const broken = counted.getRows()[0] ?? [];
  return columns.filter((_, index) => Number(broken[index]) === 0);
}

function reader(path: string, columns: readonly ResultColumn[]): string {
  const types = columns.map(({ name, type }) => `${literal(name)}: ${literal(type)}`).join(', ');
  return `read_json(${fileLiteral(path)}, format = 'newline_delimited', columns = {${types}})`;
}
