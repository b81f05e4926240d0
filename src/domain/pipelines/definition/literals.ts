import { nativeValue, type TypedValue } from './parameter-types.js';
import { isSqlPlace, type Place, type SqlPlace } from './placeholder-place.js';

/** How a value is written where it stands. `undefined` is the value of an optional parameter that was not given. */
export function literal(value: TypedValue | undefined, place: Exclude<Place, 'fixed'>): string {
  if (isSqlPlace(place)) return value ? sqlLiteral(value, place) : 'NULL';
  if (place === 'code') return value ? codeLiteral(value) : 'null';
  return value?.text ?? '';
}

function sqlLiteral({ type, text }: TypedValue, place: SqlPlace): string {
  switch (type) {
    case 'STRING':
      return TEXTS[place](text);
    case 'BOOLEAN':
      return text.toUpperCase();
    case 'DATE':
      return `DATE '${text}'`;
    case 'TIMESTAMP':
      return `TIMESTAMP '${text.replace('T', ' ').replace('Z', '')}'`;
    default:
      // A minus after a minus would begin a comment.
      return text.startsWith('-') ? `(${text})` : text;
  }
}

/** Without a backslash where a reader may take one for an escape, so that all see the same end of the text. */
const TEXTS: Readonly<Record<SqlPlace, (text: string) => string>> = {
  sql: (text) => {
    const parts = text.split('\\').map(quoted);
    return parts.length === 1 ? parts.join('') : `(${parts.join(' || chr(92) || ')})`;
  },
  mysql: (text) => {
    const parts = text.split('\\').map(quoted);
    return parts.length === 1 ? parts.join('') : `concat(${parts.join(", _utf8mb4 x'5c', ")})`;
  },
  // DuckDB takes it as it is, and so does MySQL in a session of ours; nothing else is read alike by both.
  mysqlOrDuckdb: quoted,
};

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Whatever could end a text or begin code is written by its code unit: ECMA-262, 12.9.4. */
function codeLiteral(value: TypedValue): string {
  const { type, text } = value;
  if (type === 'BOOLEAN') return text;
  if (typeof nativeValue(value) === 'number') return `(${text})`;
  const escaped = text.replace(
    /[^A-Za-z0-9 ]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}
