/**
 * What Parquet would change without a word. It has no 128-bit integer, and DuckDB writes one as DOUBLE, which is wrong
 * beyond 2^53 (and sums are HUGEINT); its intervals are unsigned milliseconds; its times have no offset.
 */
const EXACT_TYPES: Readonly<Record<string, string>> = {
  HUGEINT: 'DECIMAL(38,0)',
  UHUGEINT: 'DECIMAL(38,0)',
  BIGNUM: 'VARCHAR',
  INTERVAL: 'VARCHAR',
  'TIME WITH TIME ZONE': 'VARCHAR',
};

/**
 * In DuckDB's text of a type: quoted names of fields and values of ENUMs, which are passed over; a STRUCT whose fields
 * have no names (what row() makes); and the types above. A type stands before `,`, `)`, `[` or the end, a field's name,
 * which may be that of a type, before a space.
 */
const PARTS = new RegExp(
  [
    `"(?:[^"]|"")*"|'(?:[^']|'')*'`,
    `(?<unnamed>\\bSTRUCT\\((?!(?:"(?:[^"]|"")*"|\\w+) (?!WITH TIME ZONE\\b)))`,
    `\\b(?<inexact>${Object.keys(EXACT_TYPES).join('|')})(?=[,)[]|$)`,
  ].join('|'),
  'g',
);

/** The type in which Parquet keeps the values of `type` exactly, within STRUCT, LIST and MAP too; undefined when there is none. */
export function exactType(type: string): string | undefined {
  let isUnnamed = false;
  const exact = type.replace(PARTS, (part, ...rest) => {
    const { unnamed, inexact } = rest.at(-1) as { unnamed?: string; inexact?: string };
    isUnnamed ||= unnamed !== undefined;
    return inexact === undefined ? part : (EXACT_TYPES[inexact] ?? part);
  });
  // A cast to a STRUCT wants the names of its fields.
  return isUnnamed && exact !== type ? undefined : exact;
}
