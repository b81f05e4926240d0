import { type ErrorRenderer, plainErrors } from './failure.js';

/** A part of the URL space that speaks one error language. */
export interface Surface {
  /** Whole segments: `/v1` covers `/v1` and `/v1/books`, not `/v10`. */
  readonly prefix: string;
  readonly errors: ErrorRenderer;
}

/** The renderer of the longest prefix that covers a path, or undefined when none does. */
export function surfaceOf(surfaces: readonly Surface[], path: string): Surface | undefined {
  let best: Surface | undefined;
  for (const surface of surfaces) {
    if (covers(surface.prefix, path) && (best === undefined || surface.prefix.length > best.prefix.length)) {
      best = surface;
    }
  }
  return best;
}

function covers(prefix: string, path: string): boolean {
  const bare = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
  return path === bare || path.startsWith(`${bare}/`);
}

export function rendererFor(surfaces: readonly Surface[], path: string): ErrorRenderer {
  return surfaceOf(surfaces, path)?.errors ?? plainErrors;
}
