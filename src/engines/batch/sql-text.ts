import { quotedIn } from '../sql-quotes.js';

/** A quoted identifier, valid for DuckDB and for PostgreSQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A string literal, valid for DuckDB and for PostgreSQL with standard_conforming_strings. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * A query that can stand in parentheses though its author ended it with a semicolon, and comments behind it. What is left
 * is for the server to judge, more statements too: text that was taken for a comment and is none goes with the end of
 * what it stood in, which is then an error.
 * @param quotes as the server tells them
 */
export function withoutSemicolon(query: string, quotes: RegExp): string {
  const text = withoutLastComments(query, quotes);
  return text.endsWith(';') ? text.slice(0, -1) : query;
}

const COMMENT = /^(?:--|#|\/\*[\s\S]*\*\/$)/;

function withoutLastComments(query: string, quotes: RegExp): string {
  let text = query.trimEnd();
  for (const [start, end] of quotedIn(query, quotes).reverse()) {
    if (end < text.length || !COMMENT.test(query.slice(start, end))) break;
    text = query.slice(0, start).trimEnd();
  }
  return text;
}

/** A path literal for DuckDB's readers, which would otherwise take `*`, `?` and `[` in a file's name for a pattern. */
export function fileLiteral(path: string): string {
  return literal(path.replace(/[*?[]/g, '[$&]'));
}
