import { expect } from '@jest/globals';
import type { Answer } from '../support/rest.js';

/** An answer in the error language of /v1 with at least these details. */
export function expectRefused({ status, body }: Answer, expected: number, code: string, details?: object) {
  expect({ status, error: body.error }).toEqual({
    status: expected,
    error: expect.objectContaining({ code, ...(details && { details: expect.objectContaining(details) }) }),
  });
}
