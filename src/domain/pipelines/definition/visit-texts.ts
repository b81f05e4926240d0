import type { Path } from './yaml-text.js';

interface Visitor {
  onText(value: string, path: Path): void;
  /** `path` is that of the map. */
  onKey?(key: string, path: Path): void;
}

/** Every text of a plain value, and every key of its maps. */
export function visitTexts(value: unknown, visitor: Visitor, path: Path = []): void {
  if (typeof value === 'string') visitor.onText(value, path);
  else if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) visitTexts(element, visitor, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, element] of Object.entries(value)) {
      visitor.onKey?.(key, path);
      visitTexts(element, visitor, [...path, key]);
    }
  }
}
