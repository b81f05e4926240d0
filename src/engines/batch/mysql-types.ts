import { MAX_PRECISION } from './postgres-types.js';

/** How a value travels from MySQL or MariaDB through CSV to DuckDB, and as a literal the other way, by type. */

/** A column as the server describes it: include/mysql_com.h, enum_field_types and the flags of fields. */
export interface MysqlField {
  name: string;
  columnType: number;
  flags: number;
  characterSet: number;
  columnLength: number;
  decimals: number;
  /** MariaDB's extended metadata: its JSON is a LONGTEXT that only this tells. */
  extendedFormat?: string;
}

export interface MysqlReadRule {
  type: string;
  csvType?: string;
  convert?: (column: string) => string;
  /** Expression of the server that yields what is sent; the column itself when absent. */
  select?: (column: string) => string;
  /** The bytes are sent to DuckDB in hexadecimal. */
  isBinary?: boolean;
  /** How a watermark is compared with the column: as a number, by its bytes, or as the server's own type. */
  comparedAs: 'number' | 'bytes' | 'itself';
}

type RuleOfField = (field: MysqlField) => MysqlReadRule | undefined;

const UNSIGNED = 32;
const BINARY_CHARSET = 63;

const integer =
  (signed: string, unsigned: string): RuleOfField =>
  (field) => ({ type: field.flags & UNSIGNED ? unsigned : signed, comparedAs: 'number' });

/** MySQL's zero dates ("0000-00-00", "2024-00-00") are no dates anywhere else: they are read as null. */
const unlessZero = (type: string, suffix: string) => (column: string) =>
  `CAST(CASE WHEN ${column} LIKE '____-00-%' OR ${column} LIKE '____-__-00%' THEN NULL ELSE ${column} || '${suffix}' END AS ${type})`;
const temporal = (type: string, suffix = ''): MysqlReadRule => ({
  type,
  csvType: 'VARCHAR',
  convert: unlessZero(type, suffix),
  comparedAs: 'itself',
});
const binary: MysqlReadRule = {
  type: 'BLOB',
  csvType: 'VARCHAR',
  convert: (column) => `unhex(${column})`,
  isBinary: true,
  comparedAs: 'bytes',
};
const characters = ({ characterSet, extendedFormat }: MysqlField): MysqlReadRule => {
  if (extendedFormat === 'json') return { type: 'JSON', comparedAs: 'bytes' };
  return characterSet === BINARY_CHARSET ? binary : { type: 'VARCHAR', comparedAs: 'bytes' };
};
/** The length counts a sign and a point. Undefined when DECIMAL cannot hold what is declared. */
const decimal = ({ columnLength, decimals, flags }: MysqlField): MysqlReadRule | undefined => {
  const precision = columnLength - (decimals > 0 ? 1 : 0) - (flags & UNSIGNED ? 0 : 1);
  if (precision > MAX_PRECISION || decimals > precision) return undefined;
  return { type: `DECIMAL(${Math.max(precision, 1)},${decimals})`, comparedAs: 'number' };
};

const READ_RULES: ReadonlyMap<number, RuleOfField> = new Map<number, RuleOfField>([
  [0x00, decimal],
  [0xf6, decimal],
  [0x01, integer('TINYINT', 'UTINYINT')],
  [0x02, integer('SMALLINT', 'USMALLINT')],
  [0x03, integer('INTEGER', 'UINTEGER')],
  [0x08, integer('BIGINT', 'UBIGINT')],
  [0x09, integer('INTEGER', 'UINTEGER')],
  [0x0d, integer('USMALLINT', 'USMALLINT')],
  // A FLOAT is printed with six digits; as a double it comes whole.
  [0x04, () => ({ type: 'FLOAT', select: (column: string) => `${column} * 1e0`, comparedAs: 'number' })],
  [0x05, () => ({ type: 'DOUBLE', comparedAs: 'number' })],
  [0x0a, () => temporal('DATE')],
  [0x0c, () => temporal('TIMESTAMP')],
  [0x07, () => temporal('TIMESTAMPTZ', '+00')],
  // Runs from -838 to 838 hours, so it is a duration and no time of the day.
  [0x0b, () => ({ type: 'VARCHAR', comparedAs: 'itself' })],
  [0x10, () => ({ type: 'UBIGINT', select: (column: string) => `${column} + 0`, comparedAs: 'number' })],
  [0xf5, () => ({ type: 'JSON', comparedAs: 'bytes' })],
  [0xff, () => binary],
  [0xf2, () => binary],
  [0x06, () => ({ type: 'VARCHAR', comparedAs: 'bytes' })],
]);

/** Undefined for a DECIMAL whose declared digits are too many, so that its values have to be measured. */
export function mysqlReadRule(field: MysqlField): MysqlReadRule | undefined {
  return (READ_RULES.get(field.columnType) ?? characters)(field);
}

interface WriteRule {
  pattern: RegExp;
  /** Type of a column in a table that the target makes; `$1` is the pattern's first group. */
  type: string;
  /** Type when the column is part of the key, which MySQL wants of bounded length. */
  keyType?: string;
  /** DuckDB expression that yields the text of the value. */
  text?: (column: string) => string;
  isBinary?: boolean;
}

/** By DuckDB's name of the type; the first match wins. */
const WRITE_RULES: readonly WriteRule[] = [
  {
    pattern: /\[\d*\]$|^(STRUCT|MAP|UNION|VARIANT)\b/,
    type: 'json',
    text: (column) => `to_json(${column})::VARCHAR`,
  },
  { pattern: /^BOOLEAN$/, type: 'tinyint(1)', text: (column) => `${column}::TINYINT::VARCHAR` },
  { pattern: /^(TINYINT|SMALLINT)$/, type: 'smallint' },
  { pattern: /^UTINYINT$/, type: 'smallint' },
  { pattern: /^(USMALLINT|INTEGER)$/, type: 'int' },
  { pattern: /^(UINTEGER|BIGINT)$/, type: 'bigint' },
  { pattern: /^UBIGINT$/, type: 'bigint unsigned' },
  { pattern: /^DECIMAL(\(\d+,\s*\d+\))$/, type: 'decimal$1' },
  { pattern: /^FLOAT$/, type: 'float' },
  { pattern: /^DOUBLE$/, type: 'double' },
  { pattern: /^BLOB$/, type: 'longblob', keyType: 'varbinary(255)', isBinary: true },
  { pattern: /^DATE$/, type: 'date' },
  { pattern: /^TIME$/, type: 'time(6)' },
  {
    pattern: /^TIMESTAMP WITH TIME ZONE$/,
    type: 'datetime(6)',
    text: (column) => `(${column} AT TIME ZONE 'UTC')::VARCHAR`,
  },
  { pattern: /^TIMESTAMP/, type: 'datetime(6)' },
  { pattern: /^UUID$/, type: 'char(36)' },
  { pattern: /^JSON$/, type: 'json' },
  { pattern: /./, type: 'longtext', keyType: 'varchar(255)' },
];

/** The type of a new column for a DuckDB type, and the DuckDB expression that yields the value as a literal. */
export function mysqlWriteRule(duckDbType: string): {
  type: string;
  keyType: string;
  literal: (column: string) => string;
} {
  const rule = WRITE_RULES.find(({ pattern }) => pattern.test(duckDbType));
  if (!rule) throw new Error('A column type has no name.');
  const type = rule.type.replace('$1', rule.pattern.exec(duckDbType)?.[1] ?? '');
  const text = rule.text ?? ((column: string) => `${column}::VARCHAR`);
  const literal = rule.isBinary
    ? (column: string) => `coalesce('x''' || hex(${column}) || '''', 'NULL')`
    : (column: string) => `coalesce('''' || replace(${text(column)}, '''', '''''') || '''', 'NULL')`;
  return { type, keyType: rule.keyType ?? type, literal };
}

/**
 * The types of a new column for what the server itself computed. Text and bytes get room, as with the other engines: of an
 * expression they are declared as long as the rows could be this time, of NULL with no length at all.
 */
export function mysqlOwnTypes(type: string): { type: string; keyType: string } {
  if (/^((var)?char|binary)\(0\)|^varchar|text$/.test(type))
    return { type: 'longtext', keyType: 'varchar(255)' };
  if (/^varbinary|blob$/.test(type)) return { type: 'longblob', keyType: 'varbinary(255)' };
  return { type, keyType: type };
}
