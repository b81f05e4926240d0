import { type DuckDBConnection, type DuckDBType, DuckDBTypeId } from '@duckdb/node-api';
import { EngineError } from '../../engine-error.js';
import { identifier } from '../sql-text.js';
import type { Kind } from './sandbox.js';

export interface TypedColumn {
  name: string;
  type: DuckDBType;
}

/** How values of a DuckDB type that holds no others get to JavaScript by way of JSON. */
interface Transport {
  pattern: RegExp;
  sql?: (value: string) => string;
  kind?: Kind;
}

/** First match wins. What is not here (decimals, dates, times, UUIDs) goes as its text. */
const TRANSPORTS: readonly Transport[] = [
  { pattern: /^JSON$/, sql: (value) => value, kind: 'json' },
  { pattern: /^(BOOLEAN|VARCHAR|U?TINYINT|U?SMALLINT|U?INTEGER)$/, sql: (value) => value },
  { pattern: /^(U?BIGINT|U?HUGEINT)$/, kind: 'integer' },
  {
    pattern: /^(FLOAT|DOUBLE)$/,
    // What is not finite goes as JavaScript spells it, but for NaN, which any text is that it cannot read.
    sql: (value) =>
      `CASE WHEN isfinite(${value}) THEN to_json(${value})
        ELSE to_json(replace(CAST(${value} AS VARCHAR), 'inf', 'Infinity')) END`,
    kind: 'double',
  },
  { pattern: /^TIMESTAMP WITH TIME ZONE$/, sql: (value) => `replace(${isoText(value)}, '+00', 'Z')` },
  { pattern: /^TIMESTAMP/, sql: isoText },
  { pattern: /^BLOB$/, sql: (value) => `to_base64(${value})` },
];

function isoText(value: string): string {
  // DuckDB reads no T beside the (BC) of a year before 1.
  return `replace(replace(CAST(${value} AS VARCHAR), ' ', 'T'), 'T(BC)T', ' (BC) ')`;
}

/** Of a type that holds no others; JSON is a VARCHAR by that name. */
export function nameOf(type: DuckDBType): string {
  return type.alias ?? String(type);
}

function transportOf(type: DuckDBType): Transport | undefined {
  return TRANSPORTS.find(({ pattern }) => pattern.test(nameOf(type)));
}

/** Columns of what may stand behind FROM. @throws EngineError SQL for a type that JavaScript cannot hold */
export async function typedColumns(connection: DuckDBConnection, from: string): Promise<TypedColumn[]> {
  const read = await connection.runAndReadAll(`FROM ${from} LIMIT 0`);
  const types = read.columnTypes();
  return read.columnNames().map((name, index) => {
    const type = types[index];
    if (type === undefined) throw new Error(`The column ${name} has no type.`);
    const advice = adviceOf(type);
    if (advice !== undefined)
      throw new EngineError(
        'SQL',
        `code: The column "${name}" is a ${type}, which JavaScript cannot hold: ${advice}.`,
      );
    return { name, type };
  });
}

/** What to do with a type that would not come back; undefined of others. */
function adviceOf(type: DuckDBType): string | undefined {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.MAP:
      return adviceOf(type.valueType);
    case DuckDBTypeId.STRUCT:
      // What row() makes has no names; a UNION that was kept in Parquet lacks the first.
      if (type.entryNames.includes('')) return 'give its fields names';
      return type.entryTypes.map(adviceOf).find((advice) => advice !== undefined);
    case DuckDBTypeId.VARIANT:
      return 'cast it to JSON';
    default:
      return undefined;
  }
}

/** A SELECT with one column: each row as a JSON object. */
export function rowsAsJson(from: string, columns: readonly TypedColumn[]): string {
  return `SELECT CAST(to_json(${packed(columns, identifier)}) AS VARCHAR) FROM ${from}`;
}

function packed(fields: readonly TypedColumn[], fieldOf: (name: string) => string): string {
  const values = fields.map(({ name, type }) => `${identifier(name)} := ${sent(fieldOf(name), type)}`);
  return `struct_pack(${values.join(', ')})`;
}

/** The fields of a struct. */
export function fieldsOf(type: DuckDBType & { typeId: DuckDBTypeId.STRUCT }): TypedColumn[] {
  return type.entryTypes.map((each, index) => ({ name: type.entryNames[index] ?? '', type: each }));
}

/** `value` as to_json is to take it. */
function sent(value: string, type: DuckDBType): string {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
      return `list_transform(${value}, lambda item: ${sent('item', type.valueType)})`;
    case DuckDBTypeId.STRUCT:
      return `CASE WHEN ${value} IS NOT NULL THEN ${packed(fieldsOf(type), (name) => `(${value}).${identifier(name)}`)} END`;
    case DuckDBTypeId.MAP: {
      const entry = `struct_pack(key := CAST(entry.key AS VARCHAR), value := ${sent('entry.value', type.valueType)})`;
      return `map_from_entries(list_transform(map_entries(${value}), lambda entry: ${entry}))`;
    }
    default:
      return transportOf(type)?.sql?.(value) ?? `CAST(${value} AS VARCHAR)`;
  }
}

/** What the interpreter is to make of a row's texts; undefined where they are texts. */
export function kindOfRow(columns: readonly TypedColumn[]): Kind | undefined {
  const fields = columns.flatMap(({ name, type }) => {
    const kind = kindOf(type);
    return kind === undefined ? [] : [{ name, kind }];
  });
  return fields.length > 0 ? { fields } : undefined;
}

function kindOf(type: DuckDBType): Kind | undefined {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.MAP: {
      const each = kindOf(type.valueType);
      return each && { each };
    }
    case DuckDBTypeId.STRUCT:
      return kindOfRow(fieldsOf(type));
    default:
      return transportOf(type)?.kind;
  }
}
