import { DOUBLE, type DuckDBConnection } from '@duckdb/node-api';
import type { ResultColumn } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import type { ColumnTypes } from '../../task-spec.js';
import { describeColumns } from '../run-files.js';
import { fileLiteral, identifier, literal } from '../sql-text.js';
import { jsonOptions } from '../tasks/file-source.js';
import { sameName } from '../transformations/relation.js';
import { isBroken, readType, restored } from './returned-value.js';
import { type TypedColumn, typedColumns } from './row-transport.js';

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
  input: { name: string; columns: readonly TypedColumn[] },
  declared: ColumnTypes | undefined,
): Promise<string> {
  if (declared) return declaredRows(connection, path, names, declared);
  if (rows === 0) return `SELECT * FROM ${identifier(input.name)} LIMIT 0`;
  if (names.length === 0) throw new EngineError('SQL', 'code: No row that transform returned has a column.');
  const known = names.flatMap((name) => {
    const column = input.columns.find((each) => sameName(each.name, name));
    return column ? [{ name, type: column.type }] : [];
  });
  const kept = await unchanged(connection, path, known);
  const numbers = names.filter((name) => unbounded.has(name) && !kept.some((each) => each.name === name));
  const doubles = await unchanged(
    connection,
    path,
    numbers.map((name) => ({ name, type: DOUBLE })),
  );
  const restorable = new Map([...kept, ...doubles].map(({ name, type }) => [name, type]));
  const guesses = names.every((name) => restorable.has(name)) ? [] : await guessed(connection, path);
  const columns = names.flatMap((name) => {
    const column = identifier(name);
    const type = restorable.get(name);
    if (type) return [{ name, type: readType(type), sql: `${restored(column, type)} AS ${column}` }];
    const guess = guesses.find((each) => each.name === name);
    return guess ? [{ ...guess, sql: column }] : [];
  });
  return `SELECT ${columns.map(({ sql }) => sql).join(', ')} FROM ${reader(path, columns)}`;
}

/** With types read from all values, which takes memory for each key that any object within them has. */
function guessed(connection: DuckDBConnection, path: string): Promise<ResultColumn[]> {
  const options = [fileLiteral(path), ...jsonOptions('ndjson', undefined), 'records = true'];
  return describeColumns(connection, `read_json(${options.join(', ')})`);
}

async function declaredRows(
  connection: DuckDBConnection,
  path: string,
  names: readonly string[],
  declared: ColumnTypes,
): Promise<string> {
  const nulls = Object.entries(declared).map(([as, to]) => `CAST(NULL AS ${to}) AS ${identifier(as)}`);
  const columns = (await typedColumns(connection, `(SELECT ${nulls.join(', ')})`)).map(
    ({ name: as, type }) => ({
      as: identifier(as),
      name: names.find((name) => sameName(name, as)) ?? as,
      type,
      to: declared[as] ?? '',
    }),
  );
  const list = columns.map(({ as, name, type, to }) => {
    const column = identifier(name);
    const message = `columns: a value of "${name}" does not cast from what transform returned to ${to}.`;
    const broken = isBroken(column, type, false);
    return `CASE WHEN ${broken} THEN error(${literal(message)}) ELSE ${restored(column, type)} END AS ${as}`;
  });
  const types = columns.map(({ name, type }) => ({ name, type: readType(type) }));
  return `SELECT ${list.join(', ')} FROM ${reader(path, types)}`;
}

/** The columns all of whose values are still of the type. */
async function unchanged(
  connection: DuckDBConnection,
  path: string,
  columns: readonly TypedColumn[],
): Promise<TypedColumn[]> {
  if (columns.length === 0) return [];
  const read = columns.map(({ name, type }) => ({ name, type: readType(type) }));
  const counts = columns.map(
    ({ name, type }) => `count(*) FILTER (WHERE ${isBroken(identifier(name), type, true)})`,
  );
  const counted = await connection.runAndReadAll(`SELECT ${counts.join(', ')} FROM ${reader(path, read)}`);
  const broken = counted.getRows()[0] ?? [];
  return columns.filter((_, index) => Number(broken[index]) === 0);
}

function reader(path: string, columns: readonly ResultColumn[]): string {
  const types = columns.map(({ name, type }) => `${literal(name)}: ${literal(type)}`).join(', ');
  // Without `records` DuckDB looks for it in all that the rows hold, though the columns are given.
  return `read_json(${fileLiteral(path)}, format = 'newline_delimited', records = true, columns = {${types}})`;
}
