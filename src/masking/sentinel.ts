import { isPlain } from './is-plain.js';

/** What stands in the place of a piece of personal data: three bullets, U+2022. */
export const SENTINEL = '\u2022\u2022\u2022';

/**
 * Where a value holds the sentinel, as a path like `notifications.onFailure.0`; undefined when it does not.
 * Names of properties count as well, since a JSON object keeps them.
 */
export function findSentinel(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return value.includes(SENTINEL) ? path : undefined;
  if (typeof value !== 'object' || value === null || !(Array.isArray(value) || isPlain(value)))
    return undefined;
  for (const [name, item] of Object.entries(value)) {
    const inner = path === '' ? name : `${path}.${name}`;
    const found = name.includes(SENTINEL) ? inner : findSentinel(item, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
