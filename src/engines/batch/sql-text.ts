/** A quoted identifier, valid for DuckDB and for PostgreSQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A string literal, valid for DuckDB and for PostgreSQL with standard_conforming_strings. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * A query that can stand in parentheses though its author ended it with a semicolon. Only at the very end, where it needs
 * no reader of quotes: in a comment of its own line it is missed by nobody.
 */
export function withoutSemicolon(query: string): string {
  const text = query.trimEnd();
  return text.endsWith(';') ? text.slice(0, -1) : query;
}

/** A path literal for DuckDB's readers, which would otherwise take `*`, `?` and `[` in a file's name for a pattern. */
export function fileLiteral(path: string): string {
  return literal(path.replace(/[*?[]/g, '[$&]'));
}
