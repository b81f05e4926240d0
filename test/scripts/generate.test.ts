import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { operationTexts } from '../../scripts/generate/operations.ts';
import { settle } from '../../scripts/generate/settle.ts';

const schema = buildSchema(`
  scalar DateTime
  scalar JSON
  enum Mood { glad sad }
  input Wish { mood: Mood, at: DateTime, more: JSON }
  type Book { id: ID!, mood: Mood!, printedAt: DateTime, marks: JSON }
  type Query { book(id: ID!, wish: Wish): Book }
  type Mutation { print(id: ID!): Book! }
`);

let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-generate-'));
});

afterEach(() => rm(root, { recursive: true }));

async function put(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, name)), { recursive: true });
  await writeFile(path.join(root, name), text);
}

describe('typed operations', () => {
  it('stand beside their documents, in the values that travel', async () => {
    await put(
      'rest/books/books.graphql',
      'query GetBook($id: ID!, $wish: Wish) { book(id: $id, wish: $wish) { id mood printed_at: printedAt marks } }',
    );
    const texts = await operationTexts(root, 'rest', schema);
    expect([...texts.keys()]).toEqual(['rest/books/books.generated.ts']);
    const text = texts.get('rest/books/books.generated.ts') ?? '';
    for (const part of [
      'export type GetBookQuery = { readonly book: { readonly id: string, readonly mood: Mood, readonly marks: unknown, readonly printed_at: string | null } | null };',
      "| 'glad'",
      'readonly at?: string | null | undefined;',
      'DocumentNode<GetBookQuery, GetBookQueryVariables>',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('share the fragments of a file that holds nothing else', async () => {
    await put('rest/shelf.graphql', 'fragment Shelf on Book { mood marks }');
    await put('rest/books/books.graphql', 'query GetBook($id: ID!) { book(id: $id) { id ...Shelf } }');
    await put('rest/prints/prints.graphql', 'mutation Print($id: ID!) { print(id: $id) { id } }');
    const texts = await operationTexts(root, 'rest', schema);
    expect([...texts.keys()]).toEqual(['rest/books/books.generated.ts', 'rest/prints/prints.generated.ts']);
    expect(texts.get('rest/books/books.generated.ts')).toContain(
      'export type GetBookQuery = { readonly book: { readonly id: string, readonly mood: Mood, readonly marks: unknown } | null };',
    );
    expect(texts.get('rest/prints/prints.generated.ts')).not.toContain('Shelf');
  });

  it.each([
    [
      'a field that is not there',
      'query A {\n  book(id: 1) { titel }\n}',
      /a\.graphql:2:17: Cannot query field "titel"/,
    ],
    ['a syntax error', 'query A {', /a\.graphql:1:10: Syntax Error/],
    ['an operation without a name', '{ book(id: 1) { id } }', /a\.graphql: every operation needs a name/],
    [
      'a name that another file has',
      'query B { book(id: 1) { id } }',
      /b\.graphql: B is already the name of one in rest\/a\.graphql/,
    ],
  ])('refuse %s, with its place', async (_name, document, reason) => {
    await put('rest/a.graphql', document);
    await put('rest/b.graphql', 'query B { book(id: 2) { id } }');
    await expect(operationTexts(root, 'rest', schema)).rejects.toThrow(reason);
  });

  it('refuse a schema with a scalar nobody has said the wire type of', async () => {
    const unknown = buildSchema('scalar Furlong type Query { far: Furlong }');
    await expect(operationTexts(root, 'rest', unknown)).rejects.toThrow(/travels as Furlong/);
  });
});

describe('settling files', () => {
  const texts = new Map([
    ['out/same.json', 'same'],
    ['out/changed.json', 'new'],
    ['out/deep/missing.json', 'made'],
  ]);
  const differing = ['out/changed.json', 'out/deep/missing.json', 'out/leftover.json'];

  beforeEach(async () => {
    await put('out/same.json', 'same');
    await put('out/changed.json', 'old');
    await put('out/leftover.json', 'whose source is gone');
    await put('out/not-ours.txt', 'x');
  });

  it('names what differs and touches nothing when it only checks', async () => {
    expect(await settle(root, 'out/**/*.json', texts, true)).toEqual(differing);
    expect(await readFile(path.join(root, 'out/changed.json'), 'utf8')).toBe('old');
    expect((await readdir(path.join(root, 'out'))).toSorted()).toEqual([
      'changed.json',
      'leftover.json',
      'not-ours.txt',
      'same.json',
    ]);
  });

  it('writes what differs, removes what nothing makes any more, and leaves the rest alone', async () => {
    const before = await stat(path.join(root, 'out/same.json'));
    expect(await settle(root, 'out/**/*.json', texts, false)).toEqual(differing);
    expect(await settle(root, 'out/**/*.json', texts, true)).toEqual([]);
    expect((await stat(path.join(root, 'out/same.json'))).mtimeMs).toBe(before.mtimeMs);
    expect((await readdir(path.join(root, 'out'))).toSorted()).toEqual([
      'changed.json',
      'deep',
      'not-ours.txt',
      'same.json',
    ]);
  });
});
