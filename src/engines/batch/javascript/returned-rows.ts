import type { DuckDBConnection } from '@duckdb/node-api';
import type { ResultColumn } from '../../engine.js';
import type { ColumnTypes } from '../../task-spec.js';
import { describeColumns } from '../run-files.js';
import { fileLiteral, identifier, literal } from '../sql-text.js';
import { castOrFail } from '../transformations/cast-select.js';
import { type Relation, sameName } from '../transformations/relation.js';
import { restored } from './row-transport.js';

/**
 * A SELECT over the NDJSON an author's code returned. With `declared`, exactly those columns, and a value that does not
 * cast fails the task. Else a column of the input keeps its type as long as every value still has it, and the types of
 * the others are read from all their values.
 */
export async function returnedRows(
  connection: DuckDBConnection,
  path: string,
  rows: number,
  input: Relation,
  declared: ColumnTypes | undefined,
): Promise<string> {
  if (declared) return declaredRows(path, declared);
  if (rows === 0) return `SELECT * FROM ${identifier(input.name)} LIMIT 0`;
  const found = await describeColumns(connection, `read_json(${file(path)}, sample_size = -1)`);
  const known = found.flatMap(({ name }) => {
    const column = input.columns.find((each) => sameName(each.name, name));
    return column ? [{ name, type: column.type }] : [];
  });
  const kept = new Set(await unchanged(connection, path, known));
  const types = found.map((column) =>
    kept.has(column.name) ? { name: column.name, type: 'VARCHAR' } : column,
  );
  const list = found.map(({ name }) => {
    const column = known.find((each) => each.name === name);
    if (!column || !kept.has(name)) return identifier(name);
    return `${restored(identifier(name), column.type)} AS ${identifier(name)}`;
  });
  return `SELECT ${list.join(', ')} FROM ${reader(path, types)}`;
}

function declaredRows(path: string, declared: ColumnTypes): string {
  const entries = Object.entries(declared);
  const types = entries.map(([name, type]) => ({ name, type: type === 'JSON' ? type : 'VARCHAR' }));
  const list = entries.map(([name, to]) => {
    const column = identifier(name);
    return to === 'JSON'
      ? column
      : `${castOrFail({ name, from: 'what transform returned', to })} AS ${column}`;
  });
  return `SELECT ${list.join(', ')} FROM ${reader(path, types)}`;
}

/** The columns all of whose values are still of the type. */
async function unchanged(
  connection: DuckDBConnection,
  path: string,
  columns: readonly ResultColumn[],
): Promise<string[]> {
  if (columns.length === 0) return [];
  const texts = columns.map(({ name }) => ({ name, type: 'VARCHAR' }));
  const counts = columns.map(({ name, type }) => {
    const column = identifier(name);
    return `count(*) FILTER (WHERE ${column} IS NOT NULL AND ${restored(column, type)} IS NULL)`;
  });
  const counted = await connection.runAndReadAll(`SELECT ${counts.join(', ')} FROM ${reader(path, texts)}`);
  const broken = counted.getRows()[0] ?? [];
  return columns.filter((_, index) => Number(broken[index]) === 0).map(({ name }) => name);
}

function reader(path: string, columns: readonly ResultColumn[]): string {
  const types = columns.map(({ name, type }) => `${literal(name)}: ${literal(type)}`).join(', ');
  return `read_json(${file(path)}, columns = {${types}})`;
}

function file(path: string): string {
  return `${fileLiteral(path)}, format = 'newline_delimited'`;
}
