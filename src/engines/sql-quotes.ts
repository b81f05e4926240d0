/**
 * Texts, quoted names and comments as PostgreSQL and DuckDB tell them from the rest; the end of a comment that begins
 * with `/*` is looked for by `quotedIn`, since those nest.
 */
export const STANDARD_QUOTES =
  /(?<![\w$])[eE]'(?:[^'\\]|\\[\s\S]|'')*'?|'[^']*'?|"[^"]*"?|(?<![\w$])\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)|--[^\n]*|\/\*/g;

/** Where SQL holds texts, quoted names and comments, each from its first character to behind its last. */
export function quotedIn(sql: string, quotes: RegExp): [start: number, end: number][] {
  const found: [number, number][] = [];
  const pattern = new RegExp(quotes);
  for (let match = pattern.exec(sql); match; match = pattern.exec(sql)) {
    const end = match[0] === '/*' ? commentEnd(sql, match.index) : match.index + match[0].length;
    found.push([match.index, end]);
    pattern.lastIndex = end;
  }
  return found;
}

function commentEnd(sql: string, start: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(sql); mark; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return sql.length;
}
