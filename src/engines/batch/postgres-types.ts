/** How a value travels from PostgreSQL through CSV to DuckDB, by type. Sources read with these, targets write with these. */

export interface ReadRule {
  /** The DuckDB type of the column in the result. */
  type: string;
  /** PostgreSQL expression that yields the text to send; the column itself when absent. */
  select?: (column: string) => string;
  /** The type the CSV reader is told, when the value needs `convert` before it has its own. */
  csvType?: string;
  convert?: (column: string) => string;
}

const text: ReadRule = { type: 'VARCHAR' };
const json: ReadRule = { type: 'JSON' };

/** PostgreSQL writes years before 1 as `0044-03-15 10:00:00 BC`, DuckDB as `0044-03-15 (BC) 10:00:00`. */
function withEra(column: string): string {
  return `CASE WHEN ${column} < '0001-01-01' THEN regexp_replace(${column}::text, '^(\\S+)(.*) BC$', '\\1 (BC)\\2') ELSE ${column}::text END`;
}

/** Parquet keeps no interval exactly; this text can be cast to INTERVAL, which PostgreSQL's own only can while all signs are positive. */
function intervalParts(column: string): string {
  const months = `extract(year FROM ${column}) * 12 + extract(month FROM ${column})`;
  const micros = `extract(hour FROM ${column}) * 3600000000 + extract(minute FROM ${column}) * 60000000 + extract(microseconds FROM ${column})`;
  return `CASE WHEN ${column} IS NOT NULL THEN format('%s months %s days %s microseconds', (${months})::bigint, extract(day FROM ${column})::bigint, (${micros})::bigint) END`;
}

/** By type oid: `SELECT oid, typname FROM pg_type`. What is missing here (enums, ranges, timetz, inet, ...) is read as its text. */
const READ_RULES: ReadonlyMap<number, ReadRule> = new Map([
  [16, { type: 'BOOLEAN' }],
  [17, { type: 'BLOB', csvType: 'VARCHAR', convert: (column: string) => `unhex(substr(${column}, 3))` }],
  [20, { type: 'BIGINT' }],
  [21, { type: 'SMALLINT' }],
  [23, { type: 'INTEGER' }],
  [26, { type: 'UINTEGER' }],
  [114, json],
  [3802, json],
  [700, { type: 'FLOAT' }],
  [701, { type: 'DOUBLE' }],
  [1082, { type: 'DATE', select: withEra }],
  [1083, { type: 'TIME' }],
  [1114, { type: 'TIMESTAMP', select: withEra }],
  [1184, { type: 'TIMESTAMPTZ', select: withEra }],
  [1186, { type: 'VARCHAR', select: intervalParts }],
  [2950, { type: 'UUID' }],
]);

export const NUMERIC_OID = 1700;
/** bpchar, text, varchar, inet, cidr, macaddr, timetz, bit, varbit. */
const PLAIN_OIDS: ReadonlySet<number> = new Set([25, 1042, 1043, 869, 650, 829, 1266, 1560, 1562]);

/** Whether every server reads the text of a value of this type as the same value: not so for money, enums or regclass. */
export function hasOneText(oid: number): boolean {
  return READ_RULES.has(oid) || oid === NUMERIC_OID || PLAIN_OIDS.has(oid);
}

/** bpchar, text, varchar. */
const CHARACTER_OIDS: ReadonlySet<number> = new Set([25, 1042, 1043]);
/** Integers, oid, floats, numeric, date, time, timestamps, uuid. */
const ORDERED_OIDS: ReadonlySet<number> = new Set([
  ...[20, 21, 23, 26, 700, 701, NUMERIC_OID, 1082, 1083, 1114, 1184, 2950],
]);

/** Whether DuckDB finds the same greatest value as PostgreSQL; texts are compared by their bytes in both. */
export function isOrderedAlike({ oid, rule }: { oid: number; rule: ReadRule }): boolean {
  return rule.type === 'VARCHAR' ? CHARACTER_OIDS.has(oid) : ORDERED_OIDS.has(oid);
}

/** DuckDB's widest DECIMAL. */
export const MAX_PRECISION = 38;

/** The rule for a column that is not numeric; arrays travel as JSON, which keeps every dimension and exact numbers. */
export function readRule(oid: number, isArray: boolean): ReadRule {
  if (isArray) return { type: 'JSON', select: (column) => `array_to_json(${column})` };
  return READ_RULES.get(oid) ?? { ...text, select: (column) => `${column}::text` };
}

/**
 * Precision and scale of `numeric(p, s)`, or undefined when the column declares none that DECIMAL can hold.
 * typmod is ((p << 16) | s) + 4: src/backend/utils/adt/numeric.c, numerictypmodin.
 */
export function declaredDecimal(typmod: number): { precision: number; scale: number } | undefined {
  if (typmod < 4) return undefined;
  const precision = ((typmod - 4) >> 16) & 0xffff;
  const scale = (((typmod - 4) & 0x7ff) ^ 1024) - 1024;
  return precision <= MAX_PRECISION && scale >= 0 && scale <= precision ? { precision, scale } : undefined;
}

interface WriteRule {
  pattern: RegExp;
  /** The PostgreSQL type of a column in a table that the target makes. */
  type: string;
  /** DuckDB expression that yields the text PostgreSQL reads. */
  select?: (column: string) => string;
}

const asText = (column: string) => `${column}::VARCHAR`;
const dateText = (column: string) =>
  `CASE WHEN contains(${column}::VARCHAR, ' (BC)') THEN replace(${column}::VARCHAR, ' (BC)', '') || ' BC' ELSE ${column}::VARCHAR END`;

/** By DuckDB's name of the type; the first match wins, `$1` is the match's first group. */
const WRITE_RULES: readonly WriteRule[] = [
  {
    pattern: /\[\d*\]$|^(STRUCT|MAP|UNION|VARIANT)\b/,
    type: 'jsonb',
    select: (column) => `to_json(${column})::VARCHAR`,
  },
  { pattern: /^BOOLEAN$/, type: 'boolean' },
  { pattern: /^(TINYINT|UTINYINT|SMALLINT)$/, type: 'smallint' },
  { pattern: /^(USMALLINT|INTEGER)$/, type: 'integer' },
  { pattern: /^(UINTEGER|BIGINT)$/, type: 'bigint' },
  { pattern: /^(UBIGINT|HUGEINT|UHUGEINT|BIGNUM)$/, type: 'numeric' },
  { pattern: /^DECIMAL(\(\d+,\s*\d+\))$/, type: 'numeric$1' },
  { pattern: /^FLOAT$/, type: 'real' },
  { pattern: /^DOUBLE$/, type: 'double precision' },
  { pattern: /^BLOB$/, type: 'bytea', select: (column) => `'\\x' || hex(${column})` },
  { pattern: /^DATE$/, type: 'date', select: dateText },
  { pattern: /^TIME$/, type: 'time' },
  { pattern: /^TIMESTAMP WITH TIME ZONE$/, type: 'timestamptz', select: dateText },
  { pattern: /^TIMESTAMP/, type: 'timestamp', select: dateText },
  { pattern: /^UUID$/, type: 'uuid' },
  { pattern: /^JSON$/, type: 'jsonb' },
  { pattern: /^BIT$/, type: 'bit varying' },
  { pattern: /./, type: 'text' },
];

/** The PostgreSQL type for a DuckDB type, and the DuckDB expression that yields its text. */
export function writeRule(duckDbType: string): { type: string; select: (column: string) => string } {
  for (const { pattern, type, select } of WRITE_RULES) {
    const match = pattern.exec(duckDbType);
    if (match) return { type: type.replace('$1', match[1] ?? ''), select: select ?? asText };
  }
  throw new Error('A column type has no name.');
}
