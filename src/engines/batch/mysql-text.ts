import { EngineError } from '../engine-error.js';

/** A quoted identifier of MySQL, whatever its sql_mode. */
export function mysqlIdentifier(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** `name` or `database.name`, quoted. */
export function mysqlTable(text: string): string {
  return text.split('.').map(mysqlIdentifier).join('.');
}

/** A string literal in a session with NO_BACKSLASH_ESCAPES. */
export function mysqlLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Texts, quoted names and comments in such a session. Two dashes need a space to make a comment, comments do not nest,
 * and those with an exclamation mark are carried out.
 */
export const MYSQL_QUOTES =
  /'[^']*'?|"[^"]*"?|`[^`]*`?|#[^\n]*|--(?=[ \p{Cc}]|$)[^\n]*|\/\*(?!M?!)[\s\S]*?(?:\*\/|$)/gu;

/** A number as it stands in SQL: compared with a text, MySQL would bring both to doubles, which are wrong beyond 2^53. */
export function mysqlNumber(text: string): string {
  if (/^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text)) return text;
  throw new EngineError('SOURCE', 'The watermark of a numeric column is not a number.');
}
