import type { AuthorText } from '../../engine.js';

export interface ToJudge {
  id: number;
  texts: readonly AuthorText[];
}

export interface FromJudge {
  id: number;
  /** In the order of the texts; those beyond its end were not judged. */
  faults: readonly (string | undefined)[];
}
