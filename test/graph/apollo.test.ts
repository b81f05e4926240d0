/**
 * The types it declares would stay in the graph of later files.
 * @jest-environment node
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery, graphqlSync } from 'graphql';
import { type GraphServer, REQUEST_ID, startGraphServer } from './graph-server.js';

let server: GraphServer;

beforeAll(async () => {
  server = await startGraphServer();
});

afterAll(() => server.close());

const codeOf = (body: { errors?: { extensions: { code: string } }[] }) =>
  body.errors?.map((error) => error.extensions.code);

describe('the HTTP endpoint', () => {
  it('answers a query with the rows, scalars and relations of the graph', async () => {
    const { status, body } = await server.query(
      '{ books(limit: 1) { total data { id printedAt marks author { authorId name } } } }',
      'Bearer reader',
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        books: {
          total: 3,
          data: [
            {
              id: 'b1',
              printedAt: '1961-01-01T00:00:00.000Z',
              marks: { pages: 1 },
              author: { authorId: 'a1', name: 'Lem' },
            },
          ],
        },
      },
    });
  });

  it('tells the members of a union apart', async () => {
    const { body } = await server.query(
      '{ works { __typename ... on Book { title } ... on Film { minutes } } }',
    );
    expect(body.data.works).toEqual([
      { __typename: 'Book', title: 'Volume 1' },
      { __typename: 'Film', minutes: 166 },
    ]);
  });

  it('answers introspection exactly as graphql-js does', async () => {
    const { body } = await server.query(getIntrospectionQuery());
    expect(body).toEqual(
      JSON.parse(JSON.stringify(graphqlSync({ schema: server.schema, source: getIntrospectionQuery() }))),
    );
  });

  it('runs the operation that was named and no other', async () => {
    const query = 'query A { book { id } } query B { book { title } }';
    expect((await server.post({ query, operationName: 'B' })).body.data).toEqual({
      book: { title: 'Volume 1' },
    });
    for (const operationName of ['C', undefined]) {
      const { status, body } = await server.post({ query, operationName });
      expect(status).toBe(400);
      expect(codeOf(body)).toEqual(['OPERATION_RESOLUTION_FAILURE']);
    }
    const only = await server.post({ query: 'query A { book { id } }', operationName: 'B' });
    expect(only.status).toBe(400);
    expect(only.body.data).toBeUndefined();
  });
});

describe('what is refused', () => {
  const refused: [string, unknown, Record<string, string>, number, string][] = [
    ['a syntax error', { query: '{ book ' }, {}, 400, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', { query: '{ bok }' }, {}, 400, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a variable of another type',
      { query: 'query ($l: Int!) { books(limit: $l) { total } }', variables: { l: 'x' } },
      { authorization: 'Bearer reader' },
      400,
      'BAD_USER_INPUT',
    ],
    [
      'a missing variable',
      { query: 'query ($l: Int!) { books(limit: $l) { total } }' },
      {},
      400,
      'BAD_USER_INPUT',
    ],
    [
      'an unknown field of a variable',
      { query: 'query ($i: EchoInput) { echo(input: $i) }', variables: { i: { zz: 1 } } },
      {},
      400,
      'BAD_USER_INPUT',
    ],
    ['a subscription', { query: 'subscription { ticks(name: "x") { n } }' }, {}, 400, 'BAD_REQUEST'],
    ['no query', {}, {}, 400, 'BAD_REQUEST'],
    ['a batch', [{ query: '{ book { id } }' }, { query: '{ book { id } }' }], {}, 400, 'BAD_REQUEST'],
    ['a body that is no JSON', '{"query":', {}, 400, 'VALIDATION_ERROR'],
    [
      'a body over 1 MiB',
      { query: `{ book { id } } # ${'x'.repeat(1_048_576)}` },
      {},
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    ['a bad token', { query: '{ book { id } }' }, { authorization: 'Bearer junk' }, 401, 'TOKEN_INVALID'],
    [
      'an expired token',
      { query: '{ book { id } }' },
      { authorization: 'Bearer expired' },
      401,
      'TOKEN_EXPIRED',
    ],
    [
      'a token whose issuer is away',
      { query: '{ book { id } }' },
      { authorization: 'Bearer away' },
      503,
      'SERVICE_UNAVAILABLE',
    ],
  ];

  it.each(refused)('%s', async (_name, body, headers, status, code) => {
    const answer = await server.post(body, headers);
    expect([answer.status, codeOf(answer.body)]).toEqual([status, [code]]);
    expect(answer.headers.get('x-request-id')).toBe(REQUEST_ID);
    expect(JSON.stringify(answer.body)).not.toContain('stack');
  });

  it('a form that another site could send, whose operation never runs', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const { status, body } = await server.post('{"query":"{ book { id } }"}', { 'content-type': type });
      expect([type, status, body.data]).toEqual([type, 400, undefined]);
      expect(body.errors[0].message).toContain('CSRF');
    }
  });

  it('with the hints a client acts on', async () => {
    const invalid = await server.query('{ book { id } }', 'Bearer junk');
    expect(invalid.headers.get('www-authenticate')).toBe('Bearer');
    const away = await server.query('{ book { id } }', 'Bearer away');
    expect(away.headers.get('retry-after')).toBe('5');
    expect(away.body.errors[0].extensions.details).toEqual({ service: 'oidc', retryAfter: 5 });
  });
});

describe('errors of fields', () => {
  it.each([
    ['missing', 'NOT_FOUND', 'book not found', { resource: 'book', id: 'b9' }],
    ['away', 'SERVICE_UNAVAILABLE', 'database is unavailable', { service: 'database', retryAfter: 5 }],
    ['secret', 'INTERNAL_ERROR', 'An unexpected error occurred', undefined],
    ['graphql', 'INTERNAL_ERROR', 'An unexpected error occurred', undefined],
  ])('%s carries a stable code, its place and the request', async (how, code, message, details) => {
    const { status, body } = await server.query(`{ fails(how: "${how}") book { id } }`);
    expect(status).toBe(200);
    expect(body).toEqual({
      data: { fails: null, book: { id: 'b1' } },
      errors: [
        {
          message,
          path: ['fails'],
          locations: [{ line: 1, column: 3 }],
          extensions: { code, requestId: REQUEST_ID, ...(details && { details }) },
        },
      ],
    });
  });

  it('are logged whole when nobody foresaw them, and only then', async () => {
    server.log.length = 0;
    await server.query('{ fails(how: "missing") }');
    expect(server.log).toEqual([]);
    await server.query('{ fails(how: "secret") }');
    expect(server.log.join('')).toContain('hunter2');
  });
});

describe('introspection switched off', () => {
  it('refuses __schema and __type, answers everything else and suggests no names', async () => {
    const closed = await startGraphServer({ introspection: false });
    try {
      const refused = await closed.query('{ __schema { description } }');
      expect([refused.status, codeOf(refused.body)]).toEqual([400, ['GRAPHQL_VALIDATION_FAILED']]);
      expect((await closed.query('{ __type(name: "Book") { name } }')).status).toBe(400);
      expect((await closed.query('{ book { __typename id } }')).body.data.book.__typename).toBe('Book');
      expect((await closed.query('{ bok { id } }')).body.errors[0].message).not.toContain('Did you mean');
    } finally {
      await closed.close();
    }
  });
});
