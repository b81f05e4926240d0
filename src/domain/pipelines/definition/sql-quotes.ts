import type { SqlPlace } from './placeholder-place.js';

const STANDARD =
  /(?<![\w$])[eE]'(?:[^'\\]|\\[\s\S]|'')*'?|'[^']*'?|"[^"]*"?|(?<![\w$])\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)|--[^\n]*|\/\*/g;
/** In a session of ours, where a backslash escapes nothing. */
const PLAIN_MYSQL = /'[^']*'?|"[^"]*"?|`[^`]*`?|(?:--|#)[^\n]*|\/\*/g;
/** As a translator of MySQL's dialect reads it. */
const ESCAPING_MYSQL = /'(?:[^'\\]|\\[\s\S])*'?|"(?:[^"\\]|\\[\s\S])*"?|`[^`]*`?|(?:--|#)[^\n]*|\/\*/g;

const READINGS: Readonly<Record<SqlPlace, readonly RegExp[]>> = {
  sql: [STANDARD],
  mysql: [PLAIN_MYSQL, ESCAPING_MYSQL],
  mysqlOrDuckdb: [PLAIN_MYSQL, STANDARD],
};

/**
 * The stretches of SQL that are texts, quoted names or comments for any who may read it, each from its first character to
 * behind its last.
 */
export function quotedStretches(sql: string, place: SqlPlace): [start: number, end: number][] {
  return READINGS[place].flatMap((reading) => stretches(sql, new RegExp(reading)));
}

function stretches(sql: string, pattern: RegExp): [start: number, end: number][] {
  const found: [number, number][] = [];
  for (let match = pattern.exec(sql); match; match = pattern.exec(sql)) {
    const end = match[0] === '/*' ? commentEnd(sql, match.index) : match.index + match[0].length;
    found.push([match.index, end]);
    pattern.lastIndex = end;
  }
  return found;
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
