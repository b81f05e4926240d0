import { makeExecutableSchema } from '@graphql-tools/schema';
import { describe, expect, it } from '@jest/globals';
import { type ExecutionResult, execute, GraphQLError, type GraphQLSchema, parse } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { GraphQLDateTime } from 'graphql-scalars';
import { describeFailure, describeFailures, toGraphqlError } from '../../src/describe-failure.js';
import { AppError, conflict, notFound, unavailable } from '../../src/errors.js';

const schema = makeExecutableSchema({
  typeDefs: `
    scalar DateTime
    enum Colour { RED GREEN }
    input Inner { at: DateTime }
    input ItemInput { title: String!, size: Int, colour: Colour, inner: Inner }
    type Query { save(input: ItemInput!): Boolean }
  `,
  resolvers: { DateTime: GraphQLDateTime },
});
const document = parse('query Save($input: ItemInput!) { save(input: $input) }');

type Executor = (schema: GraphQLSchema, variableValues: Record<string, unknown>) => ExecutionResult;

const runJs: Executor = (on, variableValues) =>
  execute({ schema: on, document, variableValues }) as ExecutionResult;
const runJit: Executor = (on, variables) => {
  const compiled = compileQuery(on, document);
  if (!isCompiledQuery(compiled)) throw new Error('It does not compile');
  return compiled.query({}, {}, variables) as ExecutionResult;
};

/** What graphql-jit says of enums and of scalars below the top tells less; the bridge checks bodies before it. */
const REFUSED = [
  { input: undefined, js: ['input', 'isDefined'] },
  { input: null, js: ['input', 'isDefined'] },
  { input: {}, js: ['title', 'isDefined'] },
  { input: { title: null }, js: ['title', 'isNotNull'] },
  { input: { title: 1 }, js: ['title', 'isString'] },
  { input: { title: 'a', size: 'x' }, js: ['size', 'isInt'] },
  { input: { title: 'a', colour: 'BLUE' }, js: ['colour', 'isIn'], jit: ['colour', 'isScalar'] },
  { input: { title: 'a', inner: { at: 'soon' } }, js: ['inner.at', 'isScalar'], jit: ['at', 'isScalar'] },
  { input: { title: 'a', inner: 3 }, js: ['inner', 'isObject'] },
  { input: { title: 'a', other: 1 }, js: ['other', 'whitelistValidation'] },
];

describe('a refused variable', () => {
  it.each(REFUSED)('is a validation error of its field: $input', ({ input, js, jit = js }) => {
    const variables = input === undefined ? {} : { input };
    const told = [runJs, runJit].map((run) => {
      const { code, details } = describeFailure(run(schema, variables).errors?.[0]);
      return [code, details?.['field'], details?.['constraint']];
    });
    expect(told).toStrictEqual([
      ['VALIDATION_ERROR', ...js],
      ['VALIDATION_ERROR', ...jit],
    ]);
  });
});

describe('describeFailure', () => {
  it('keeps an error of ours, however GraphQL wrapped it', () => {
    const mine = conflict('taken', { id: 1 });
    expect(describeFailure(mine)).toBe(mine);
    expect(describeFailure(new GraphQLError('taken', { originalError: mine }))).toBe(mine);
  });

  it('never repeats the message of what nobody expected, and keeps it as the cause', () => {
    for (const error of [new Error('secret'), 'secret', null, { message: 'secret' }]) {
      const described = describeFailure(error);
      expect([described.code, described.message, described.details]).toStrictEqual([
        'INTERNAL_ERROR',
        'An unexpected error occurred',
        null,
      ]);
      expect(described.cause).toBe(error);
    }
  });

  it('tells the gravest of several, the first of equals', () => {
    const absent = notFound('item', '1');
    const away = unavailable('database', 5);
    expect(describeFailures([absent, notFound('item', '2')])).toBe(absent);
    expect(describeFailures([absent, away])).toBe(away);
    expect(describeFailures([]).code).toBe('INTERNAL_ERROR');
  });
});

describe('toGraphqlError', () => {
  it('has a stable code for ours and keeps the standard ones', () => {
    expect(toGraphqlError(new GraphQLError('x', { originalError: notFound('item', '1') }))).toStrictEqual({
      message: 'item not found',
      code: 'NOT_FOUND',
      details: { resource: 'item', id: '1' },
    });
    const parseError = new GraphQLError('Syntax Error', { extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
    expect(toGraphqlError(parseError)).toStrictEqual({
      message: 'Syntax Error',
      code: 'GRAPHQL_PARSE_FAILED',
      details: null,
    });
    expect(toGraphqlError(new GraphQLError('secret'))).toStrictEqual({
      message: 'An unexpected error occurred',
      code: 'INTERNAL_ERROR',
      details: null,
    });
    const fake = new GraphQLError('secret', { extensions: { code: 'INTERNAL_ERROR' } });
    expect(toGraphqlError(fake).message).toBe('An unexpected error occurred');
    expect(toGraphqlError(new AppError('TOKEN_EXPIRED', 'expired')).code).toBe('TOKEN_EXPIRED');
  });
});
