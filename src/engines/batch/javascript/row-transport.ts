import type { ResultColumn } from '../../engine.js';
import { identifier } from '../sql-text.js';
import type { ColumnKind } from './sandbox.js';

/** How values of a DuckDB type get to JavaScript by way of JSON. */
interface Transport {
  pattern: RegExp;
  /** SQL over the quoted column; the value itself when absent. */
  sql?: (column: string) => string;
  kind?: ColumnKind['kind'];
}

/** First match wins. What is not here (decimals, dates, times, UUIDs) goes as its text. */
const TRANSPORTS: readonly Transport[] = [
  { pattern: /[\])]$/, sql: (column) => column },
  { pattern: /^(BOOLEAN|VARCHAR|JSON|U?TINYINT|U?SMALLINT|U?INTEGER)$/, sql: (column) => column },
  { pattern: /^(U?BIGINT|U?HUGEINT)$/, kind: 'integer' },
  {
    pattern: /^(FLOAT|DOUBLE)$/,
    // What is not finite goes as JavaScript spells it, but for NaN, which any text is that it cannot read.
    sql: (column) =>
      `CASE WHEN isfinite(${column}) THEN to_json(${column})
        ELSE to_json(replace(CAST(${column} AS VARCHAR), 'inf', 'Infinity')) END`,
    kind: 'double',
  },
  { pattern: /^TIMESTAMP WITH TIME ZONE$/, sql: (column) => `replace(${isoText(column)}, '+00', 'Z')` },
  { pattern: /^TIMESTAMP/, sql: isoText },
  { pattern: /^BLOB$/, sql: (column) => `to_base64(${column})` },
];

function isoText(column: string): string {
  return `replace(CAST(${column} AS VARCHAR), ' ', 'T')`;
}

function transportOf(type: string): Transport | undefined {
  // A decimal ends in a parenthesis as a struct does.
  if (type.startsWith('DECIMAL')) return undefined;
  return TRANSPORTS.find(({ pattern }) => pattern.test(type));
}

/** A SELECT with one column: each row as a JSON object. */
export function rowsAsJson(from: string, columns: readonly ResultColumn[]): string {
  const values = columns.map(({ name, type }) => {
    const column = identifier(name);
    return `${column} := ${transportOf(type)?.sql?.(column) ?? `CAST(${column} AS VARCHAR)`}`;
  });
  return `SELECT CAST(to_json(struct_pack(${values.join(', ')})) AS VARCHAR) FROM ${from}`;
}

export function kindsOf(columns: readonly ResultColumn[]): ColumnKind[] {
  return columns.flatMap(({ name, type }) => {
    const kind = transportOf(type)?.kind;
    return kind ? [{ name, kind }] : [];
  });
}

/** Types whose casts round away what another type keeps, with that type. */
const WIDER: readonly (readonly [RegExp, string])[] = [
  [/^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/, 'DOUBLE'],
  [/^DATE$/, 'TIMESTAMP'],
];

/** True of a value that came back as text and is none of the type it had: 1.5 is no whole number, though it casts to 2. */
export function isChanged(column: string, type: string): string {
  const broken = `${restored(column, type)} IS NULL`;
  const wider = WIDER.find(([pattern]) => pattern.test(type))?.[1];
  if (wider === undefined) return broken;
  return `(${broken} OR TRY_CAST(${column} AS ${wider}) <> TRY_CAST(${restored(column, type)} AS ${wider}))`;
}

/** A value that came back as text, in the type it had; null when it is none of that type. */
export function restored(column: string, type: string): string {
  if (type === 'BLOB') return `TRY(from_base64(${column}))`;
  const text = /[\])]$/.test(type) && !type.startsWith('DECIMAL') ? `TRY_CAST(${column} AS JSON)` : column;
  return `TRY_CAST(${text} AS ${type})`;
}
