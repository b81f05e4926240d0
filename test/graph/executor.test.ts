/**
 * The types it declares would stay in the graph of later files.
 * @jest-environment node
 */
import { describe, expect, it } from '@jest/globals';
import { type ExecutionResult, execute, parse, validate } from 'graphql';
import type { RequestContext } from '../../src/context.js';
import { buildGraph } from '../../src/graph/build-schema.js';
import { createExecutor } from '../../src/graph/executor.js';
import { formatError } from '../../src/graph/format-error.js';
import { jitAnswersAlike } from '../../src/graph/jit-support.js';
import { LibraryResolver } from './library.js';

const schema = buildGraph([LibraryResolver]);
const context = { caller: {} } as RequestContext;

/** As clients see it, without the wording of refused variables, which graphql-jit puts differently. */
function asSeen({ data, errors }: ExecutionResult) {
  return {
    data,
    errors: errors?.map((error) => {
      const { message, path, locations, extensions } = formatError(error);
      const code = data === undefined ? 'BAD_USER_INPUT' : extensions?.['code'];
      return { path, locations, code, ...(data !== undefined && { message }) };
    }),
  };
}

const compiled: [string, Record<string, unknown>][] = [
  ['{ book { id title printedAt marks author { authorId name } } }', {}],
  ['{ a: book { x: id } b: book { __typename } }', {}],
  ['{ works { __typename ... on Book { id title } ... on Film { id minutes } } }', {}],
  ['{ book { ...B sequels { ...B sequels { ...B } } } } fragment B on Book { id title }', {}],
  ['query ($x: Boolean!) { book { id @skip(if: $x) title @include(if: $x) } }', { x: true }],
  ['query ($x: Boolean = true) { book { id @skip(if: $x) title } }', {}],
  ['{ echo }', {}],
  ['{ echo(word: null) }', {}],
  ['{ echo(input: { text: null, tags: ["a"] }, at: "2020-01-01T00:00:00Z") }', {}],
  ['query ($i: EchoInput) { echo(input: $i) }', {}],
  ['query ($i: EchoInput) { echo(input: $i) }', { i: {} }],
  ['query ($i: EchoInput) { echo(input: $i) }', { i: { text: null, number: null } }],
  ['query ($i: EchoInput) { echo(input: $i) }', { i: { at: '2020-01-01T00:00:00Z', tags: [] } }],
  ['query ($w: String) { echo(word: $w) }', {}],
  ['query ($w: String) { echo(word: $w) }', { w: null }],
  ['query ($w: String = "said") { echo(word: $w) }', {}],
  ['query ($l: [String!]) { echo(list: $l) }', { l: 'one' }],
  ['query ($at: DateTime) { echo(at: $at) }', { at: '2020-01-01T00:00:00+02:00' }],
  ['{ fails(how: "missing") book { id } }', {}],
  ['{ fails(how: "secret") }', {}],
  ['{ catalogue }', {}],
  ['mutation { a: burn b: burn }', {}],
  ['query ($i: EchoInput) { echo(input: $i) }', { i: { text: 5 } }],
  ['query ($i: EchoInput) { echo(input: $i) }', { i: { unknown: 5 } }],
  ['query ($w: String!) { echo(word: $w) }', {}],
  ['query ($at: DateTime) { echo(at: $at) }', { at: 'yesterday' }],
];

/** Where graphql-jit 0.8 is wrong, and which therefore run on graphql-js. */
const interpreted: [string, Record<string, unknown>][] = [
  ['query ($t: String) { echo(input: { text: $t }) }', {}],
  ['query ($n: Int) { echo(input: { number: $n }) }', {}],
  ['query ($at: DateTime = "2020-01-01T00:00:00Z") { echo(at: $at) }', {}],
  ['query ($i: EchoInput = { at: "2020-01-01T00:00:00Z" }) { echo(input: $i) }', {}],
  ['query ($w: String! = "said") { echo(word: $w) }', {}],
  ['query ($x: Boolean!) { book { ...B @skip(if: $x) ...B } } fragment B on Book { id }', { x: true }],
  [
    'query ($x: Boolean!) { book { ... @skip(if: $x) { ...B } ...B } } fragment B on Book { id }',
    { x: true },
  ],
];

async function compare(query: string, variables: Record<string, unknown> | undefined): Promise<void> {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  const ours = await createExecutor(schema).execute(
    { document, operationName: undefined, documentKey: query },
    { context, variables },
  );
  const theirs = await execute({
    schema,
    document: parse(query),
    contextValue: context,
    variableValues: variables,
  });
  expect(asSeen(ours)).toEqual(asSeen(theirs));
}

describe('the executor answers as graphql-js does', () => {
  it.each(compiled)('compiled: %s %j', async (query, variables) => {
    expect(jitAnswersAlike(parse(query))).toBe(true);
    await compare(query, variables);
  });

  it.each(interpreted)('interpreted: %s %j', async (query, variables) => {
    expect(jitAnswersAlike(parse(query))).toBe(false);
    await compare(query, variables);
  });

  it('whichever operation of a document with shared fragments runs first', async () => {
    const document = parse(
      'query A($x: Boolean!) { book { id @skip(if: $x) ...B } } query B { book { id ...B } } fragment B on Book { title }',
    );
    const { execute: run } = createExecutor(schema);
    const answers = [];
    for (const operationName of ['A', 'B', 'A']) {
      const operation = { document, operationName, documentKey: 'shared' };
      const { data } = await run(operation, { context, variables: { x: true } });
      answers.push(data);
    }
    const title = 'Volume 1';
    expect(answers).toEqual([{ book: { title } }, { book: { id: 'b1', title } }, { book: { title } }]);
    expect(JSON.stringify(document)).not.toContain('__internal');
  });
});
