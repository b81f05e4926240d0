/** A quoted identifier, valid for DuckDB and for PostgreSQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A string literal, valid for DuckDB and for PostgreSQL with standard_conforming_strings. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path literal for DuckDB's readers, which would otherwise take `*`, `?` and `[` in a file's name for a pattern. */
export function fileLiteral(path: string): string {
  return literal(path.replace(/[*?[]/g, '[$&]'));
}
