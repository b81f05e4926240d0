import { z } from 'zod';
import { isStorableText } from './storable-text.js';

const MAX_BYTES = 32_768;
/** Bounds the recursion of everything that walks the object afterwards. */
const MAX_DEPTH = 16;

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === MAX_DEPTH) return false;
  return Object.entries(value).every(([key, item]) => isStorableText(key) && isStorable(item, depth + 1));
}

/** Any JSON object that jsonb can keep. */
export const jsonObject = z.record(z.string(), z.unknown()).superRefine((fields, issues) => {
  if (!isStorable(fields, 0)) {
    issues.addIssue({
      code: 'custom',
      message: `must be JSON text at most ${MAX_DEPTH} levels deep`,
      params: { constraint: 'isJSON' },
    });
    return;
  }
  if (Buffer.byteLength(JSON.stringify(fields)) > MAX_BYTES) {
    issues.addIssue({
      code: 'custom',
      message: `must not be larger than ${MAX_BYTES} bytes as JSON`,
      params: { constraint: 'maxLength' },
    });
  }
});
