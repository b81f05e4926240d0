import { quotedIn, STANDARD_QUOTES } from '../../../engines/sql-quotes.js';
import type { SqlPlace } from './placeholder-place.js';

/**
 * In a session of ours, where a backslash escapes nothing. More counts as comment than is, which is the safe side: of a
 * `--` without a space, and where comments begin within comments.
 */
const PLAIN_MYSQL = /'[^']*'?|"[^"]*"?|`[^`]*`?|(?:--|#)[^\n]*|\/\*/g;
/** As a translator of MySQL's dialect reads it. */
const ESCAPING_MYSQL = /'(?:[^'\\]|\\[\s\S])*'?|"(?:[^"\\]|\\[\s\S])*"?|`[^`]*`?|(?:--|#)[^\n]*|\/\*/g;

const READINGS: Readonly<Record<SqlPlace, readonly RegExp[]>> = {
  sql: [STANDARD_QUOTES],
  mysql: [PLAIN_MYSQL, ESCAPING_MYSQL],
  mysqlOrDuckdb: [PLAIN_MYSQL, STANDARD_QUOTES],
};

/**
 * The stretches of SQL that are texts, quoted names or comments for any who may read it, each from its first character to
 * behind its last.
 */
export function quotedStretches(sql: string, place: SqlPlace): [start: number, end: number][] {
  return READINGS[place].flatMap((reading) => quotedIn(sql, reading));
}
