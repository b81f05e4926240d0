import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventMasker } from '../../src/masking/event-masker.js';
import { JsonMasker, maskJson, maskMessage } from '../../src/masking/json-masker.js';
import { maskValue } from '../../src/masking/mask-value.js';

interface Masker {
  push(text: string): string;
  end(): string;
}

function inPieces(masker: Masker, text: string, sizes: readonly number[]): string {
  let masked = '';
  let at = 0;
  for (let piece = 0; at < text.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? 1;
    masked += masker.push(text.slice(at, at + size));
    at += size;
  }
  return masked + masker.end();
}

const personal = fc.constantFrom(
  'jan@example.com',
  '+48601234567',
  '4111111111111111',
  '44051401359',
  '\\',
  '"',
  '\n',
);
const text = fc
  .array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 8 }), personal), { maxLength: 5 })
  .map((parts) => parts.join(' '));
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    text,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(text, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });

describe('JSON that comes in pieces', () => {
  it('is masked as its value would be, wherever it is cut and however it is written', () => {
    fc.assert(
      fc.property(json, sizes, fc.constantFrom(undefined, 2, '\t'), (value, pieces, space) => {
        const source = JSON.stringify(value, null, space);
        const masked = inPieces(new JsonMasker(), source, pieces);
        expect(JSON.parse(masked)).toEqual(JSON.parse(JSON.stringify(maskValue(value))));
      }),
    );
  });

  it('keeps every character of what holds nothing', () => {
    const source =
      '{ "n": 12345678901234567890.00, "44051401359": [1e+2, "a\\u0020b", "\\"", ""] }\n{"next":1}\n';
    expect(inPieces(new JsonMasker(), source, [1])).toBe(source);
    expect(maskJson(source)).toBe(source);
  });

  it('is read through its escapes', () => {
    expect(maskJson('["jan\\u0040example.com", "a\\\\", "jan@example.com"]')).toBe('["•••", "a\\\\", "•••"]');
  });

  it('has a string of more than 1 MiB replaced as a whole', () => {
    const source = JSON.stringify({
      big: `${'x'.repeat(1_100_000)}\\"${'y'.repeat(9)}`,
      next: 'jan@example.com',
    });
    expect(inPieces(new JsonMasker(), source, [65_536])).toBe('{"big":"•••","next":"•••"}');
    expect(inPieces(new JsonMasker(), source, [1_048_590, 1])).toBe('{"big":"•••","next":"•••"}');
  });

  it('that ends early is masked as far as it goes', () => {
    expect(maskJson('{"mail":"jan@example.com')).toBe('{"mail":"•••');
  });
});

describe('a message', () => {
  it.each([
    ['{"n":44051401359,"s":"44051401359"}', '{"n":44051401359,"s":"•••"}'],
    ['PESEL 44051401359', 'PESEL •••'],
    ['"jan@example.com"', '"•••"'],
    ['', ''],
  ])('%s', (message, masked) => {
    expect(maskMessage(message)).toBe(masked);
  });
});

describe('an event stream that comes in pieces', () => {
  const stream = [
    ': hello',
    'id: 44051401359',
    'event: alert',
    'data: {"mail":"jan@example.com","n":44051401359}',
    '',
    'data:jan@example.com',
    'data: a\u2028jan@example.com',
    '',
    '',
  ];
  const masked = [
    ': hello',
    'id: 44051401359',
    'event: alert',
    'data: {"mail":"•••","n":44051401359}',
    '',
    'data:•••',
    'data: a\u2028•••',
    '',
    '',
  ];

  it.each(['\n', '\r\n', '\r'])('is masked in its data only, with line ends %j', (end) => {
    fc.assert(
      fc.property(sizes, (pieces) => {
        expect(inPieces(new EventMasker(), stream.join(end), pieces)).toBe(masked.join(end));
      }),
    );
  });

  it('gives a line as soon as it is complete', () => {
    const masker = new EventMasker();
    expect(masker.push('data: jan@exam')).toBe('');
    expect(masker.push('ple.com\n')).toBe('data: •••\n');
  });

  it('has lines of at most 1 MiB', () => {
    expect(() => new EventMasker().push(`data: ${'x'.repeat(1_048_576)}`)).toThrow(RangeError);
  });
});
