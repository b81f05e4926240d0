import { z } from 'zod';

/** PostgreSQL's text holds no NUL, and a lone surrogate is no character in UTF-8. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

export function isStorableText(value: string): boolean {
  return !UNSTORABLE.test(value);
}

export function text() {
  return z.string().refine(isStorableText, {
    error: 'must be well-formed text without NUL',
    params: { constraint: 'isString' },
  });
}
