const STANDARD =
  /(?<![\w$])[eE]'(?:[^'\\]|\\[\s\S]|'')*'?|'[^']*'?|"[^"]*"?|(?<![\w$])\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)|--[^\n]*|\/\*/g;
const MYSQL = /'(?:[^'\\]|\\[\s\S])*'?|"(?:[^"\\]|\\[\s\S])*"?|`[^`]*`?|(?:--|#)[^\n]*|\/\*/g;

/** The stretches of SQL that are texts, quoted names or comments, each from its first character to behind its last. */
export function quotedStretches(sql: string, dialect: 'sql' | 'mysql'): [start: number, end: number][] {
  const pattern = new RegExp(dialect === 'mysql' ? MYSQL : STANDARD);
  const stretches: [number, number][] = [];
  for (let match = pattern.exec(sql); match; match = pattern.exec(sql)) {
    const end = match[0] === '/*' ? commentEnd(sql, match.index) : match.index + match[0].length;
    stretches.push([match.index, end]);
    pattern.lastIndex = end;
  }
  return stretches;
}

/** Comments nest in PostgreSQL; where they don't, more counts as comment than is, which is the safe side. */
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
