import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { maskValue } from '../../src/masking/mask-value.js';
import { findSentinel, SENTINEL } from '../../src/masking/sentinel.js';

describe('the sentinel', () => {
  it('is three bullets', () => {
    expect([...SENTINEL].map((sign) => sign.codePointAt(0))).toEqual([0x2022, 0x2022, 0x2022]);
  });

  it.each([
    [{ name: 'a •••' }, 'name'],
    [{ a: { b: [1, { c: '•••' }] } }, 'a.b.1.c'],
    [{ 'x•••': 1 }, 'x•••'],
    [{ name: '••', other: null, bytes: Buffer.from('•••'), at: new Date() }, undefined],
  ])('is found in %j', (value, path) => {
    expect(findSentinel(value)).toBe(path);
  });
});

describe('a value that is no JSON', () => {
  it('is not entered: an upload leads to its whole connection and back', () => {
    const upload = new PassThrough();
    Object.assign(upload, { itself: upload, text: SENTINEL });
    expect(findSentinel({ upload })).toBeUndefined();
    expect(maskValue({ upload, mail: 'jan@example.com' })).toEqual({ upload, mail: SENTINEL });
  });
});

describe('maskValue', () => {
  it('masks strings at any depth, and neither names, numbers nor dates', () => {
    const at = new Date();
    expect(
      maskValue({
        'jan@example.com': 44051401359,
        rows: [{ mail: 'jan@example.com', at, n: null, ok: true }],
      }),
    ).toEqual({ 'jan@example.com': 44051401359, rows: [{ mail: SENTINEL, at, n: null, ok: true }] });
  });

  it('gives back the very value when it holds nothing', () => {
    const value = { rows: [{ name: 'orders' }, ['x']] };
    expect(maskValue(value)).toBe(value);
  });
});
