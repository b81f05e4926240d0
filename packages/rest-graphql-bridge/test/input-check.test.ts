import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { coerceInputValue, type GraphQLInputType, isInputType } from 'graphql';
import type { InputProblem } from '../src/failure.js';
import { InputChecks } from '../src/input-check.js';
import { library } from './support/library.js';

const { schema } = library();

function typeNamed(name: string): GraphQLInputType {
  const type = schema.getType(name);
  if (!isInputType(type)) throw new Error(`no input type ${name}`);
  return type;
}

const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double(),
  fc.constantFrom(
    '',
    'text',
    'IN_STOCK',
    '2024-01-01T00:00:00Z',
    '0190a1b2-0000-7000-8000-0123456789ab',
    2 ** 31,
    -(2 ** 31),
  ),
);
const author = fc.record({ name: leaf, born: leaf, nmae: leaf }, { requiredKeys: [] });
const bookBody = fc.record(
  {
    title: leaf,
    pages: leaf,
    price: leaf,
    availability: leaf,
    tags: fc.oneof(fc.constant(null), fc.array(leaf, { maxLength: 3 })),
    author: fc.oneof(leaf, author),
    addedAt: leaf,
    shelf: leaf,
    rare: leaf,
    extra: leaf,
    isbn: leaf,
  },
  { requiredKeys: [] },
);
const likelyBook = fc.record(
  {
    title: fc.string(),
    pages: fc.option(fc.integer({ min: 0, max: 900 })),
    author: fc.oneof(fc.constant(null), author),
  },
  { requiredKeys: ['title'] },
);

describe('the check of a body', () => {
  it('accepts what graphql-js accepts, and nothing else', () => {
    const check = new InputChecks({}).of(typeNamed('BookInput'));
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(bookBody, likelyBook), (body) => {
        const refused: unknown[] = [];
        coerceInputValue(structuredClone(body), typeNamed('BookInput'), (path) => refused.push(path));
        const problems: InputProblem[] = [];
        check(structuredClone(body), [], problems);
        if (refused.length === 0) accepted += 1;
        expect(problems.length > 0).toBe(refused.length > 0);
      }),
      { numRuns: 2_000 },
    );
    // Both answers must really have been seen.
    expect(accepted).toBeGreaterThan(100);
    expect(accepted).toBeLessThan(1_900);
  });

  it('names the paths that graphql-js names', () => {
    const check = new InputChecks({}).of(typeNamed('BookInput'));
    fc.assert(
      fc.property(bookBody, (body) => {
        const refused = new Set<string>();
        coerceInputValue(structuredClone(body), typeNamed('BookInput'), (path, _value, error) => {
          // graphql-js reports a missing or unknown field at its object, with the name only in the message.
          const [, field] = /^Field "(\w+)"/.exec(error.message) ?? [];
          refused.add([...path, ...(field === undefined ? [] : [field])].join('.'));
        });
        const problems: InputProblem[] = [];
        check(structuredClone(body), [], problems);
        expect(new Set(problems.map((problem) => problem.field))).toEqual(refused);
      }),
      { numRuns: 1_000 },
    );
  });
});
