import type { TypedValue } from './parameter-types.js';
import type { Place } from './placeholder-place.js';

/** How a value is written where it stands. `undefined` is the value of an optional parameter that was not given. */
export function literal(value: TypedValue | undefined, place: Exclude<Place, 'fixed'>): string {
  if (place === 'sql' || place === 'mysql') return value ? sqlLiteral(value, place) : 'NULL';
  if (place === 'code') return value ? codeLiteral(value) : 'null';
  return value?.text ?? '';
}

function sqlLiteral({ type, text }: TypedValue, place: 'sql' | 'mysql'): string {
  switch (type) {
    case 'STRING':
      return place === 'mysql' ? mysqlText(text) : standardText(text);
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

/**
 * Without a backslash, so that a server which reads one as an escape (MySQL, when a step is pushed down to it) sees no
 * other end of the text than we do.
 */
function standardText(text: string): string {
  const parts = text.split('\\').map((part) => `'${part.replaceAll("'", "''")}'`);
  return parts.length === 1 ? parts.join('') : `(${parts.join(' || chr(92) || ')})`;
}

function mysqlText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** Whatever could end a text or begin code is written by its code unit: ECMA-262, 12.9.4. */
function codeLiteral({ type, text }: TypedValue): string {
  if (type === 'BOOLEAN') return text;
  if ((type === 'INTEGER' || type === 'DECIMAL') && String(Number(text)) === text) return `(${text})`;
  const escaped = text.replace(
    /[^A-Za-z0-9 ]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}
