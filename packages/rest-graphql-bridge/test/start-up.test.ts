import { describe, expect, it } from '@jest/globals';
import { createBridge, emitOpenApi, param, type Row, route, routes } from '../src/index.js';
import { document, library } from './support/library.js';

const { schema } = library();
const doc = (source: string) => document<Record<string, unknown>, Record<string, unknown>>(source);
const get = { method: 'GET', path: '/x' } as const;
const none = { variables: () => ({}) };

function complaint(...rows: Row[]): string {
  try {
    createBridge({ schema, context: () => ({}), tables: [routes('books.routes.ts', rows)] });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a table that can not be served', () => {
  it('stops createBridge and emitOpenApi with every problem of every row', () => {
    const rows = [
      route(doc('query A { books { data { titel } } }'), get),
      route(doc('query Fine { failing }'), { method: 'GET', path: '/fine' }),
      route(doc('query B($id: ID!) { book(id: $id) { id } }'), {
        method: 'GET',
        path: '/b/:id/',
        params: { isbn: param.int() } as never,
      }),
    ];
    const message = [
      'The route tables are not usable:',
      'books.routes.ts: GET /x: Cannot query field "titel" on type "Book". Did you mean "title"?',
      'books.routes.ts: GET /b/:id/: the path must not end with /',
      'books.routes.ts: GET /b/:id/: nothing supplies the required variable $id',
      'books.routes.ts: GET /b/:id/: the path has no parameter :isbn',
    ].join('\n');
    expect(complaint(...rows)).toBe(message);
    const emit = () =>
      emitOpenApi({
        schema,
        tables: [routes('books.routes.ts', rows)],
        info: { title: 'x', version: '1' },
        errorSchema: {},
      });
    expect(emit).toThrow(message);
  });

  it.each<[string, Row, string]>([
    [
      'two operations',
      route(doc('query A { failing } query B { failing }'), get),
      '2 operations and not exactly one',
    ],
    ['no operation', route(doc('fragment F on Book { id }'), get), '0 operations and not exactly one'],
    ['an operation without a name', route(doc('{ failing }'), get), 'the operation has no name'],
    [
      'a subscription over JSON',
      route(doc('subscription S { unavailable { seq } }'), get),
      'needs route.sse',
    ],
    [
      'a query as a stream',
      route.sse(doc('query Q { failing }'), { path: '/x', event: () => ({ data: 1 }) }),
      'needs a subscription, not a query',
    ],
    ['a mutation behind GET', route(doc('mutation M { removeBook(id: 1) }'), get), 'GET must be safe'],
    [
      'a body behind GET',
      route(doc('query Q($b: JSON) { echo(value: $b) }'), { ...get, body: { type: 'freeform' } }),
      'GET takes no body',
    ],
    [
      'a body without a variable',
      route(doc('query Q { failing }'), { method: 'POST', path: '/x', body: {} }),
      'must name the variable',
    ],
    [
      'an unknown body variable',
      route(doc('query Q { failing }'), { method: 'POST', path: '/x', body: { variable: 'input' } }),
      'no variable $input',
    ],
    [
      'a required variable that an optional body may leave out',
      route(doc('query Q($b: JSON!) { echo(value: $b) }'), {
        method: 'POST',
        path: '/x',
        body: { type: 'freeform', variable: 'b', optional: true },
      }),
      'nothing supplies the required variable $b',
    ],
    [
      'an unknown null path',
      route(doc('query Q { book(id: 1) { id } }'), { ...get, nulls: { 'book.id': 'omit' } }),
      'nulls names "book.id"',
    ],
    ['a relative path', route(doc('query Q { failing }'), { ...get, path: 'x' }), 'must start with /'],
    ['an empty segment', route(doc('query Q { failing }'), { ...get, path: '/a//b' }), 'empty segment'],
    [
      'a pattern in the path',
      route(doc('query Q { failing }'), { ...get, path: '/a/*rest' }),
      'neither literal nor :name',
    ],
    [
      'a parameter named twice',
      route(doc('query Q { failing }'), { ...get, path: '/:a/:a' }),
      'names :a twice',
    ],
  ])('names %s', (_what, row, reason) => {
    expect(complaint(row)).toContain(reason);
  });

  it('names two rows with the same method and shape of path', () => {
    const failing = doc('query Q { failing }');
    const message = complaint(
      route(failing, { method: 'GET', path: '/b/:id' }),
      route(failing, { method: 'POST', path: '/b/:id', ...none }),
      route(failing, { method: 'GET', path: '/b/:isbn' }),
    );
    expect(message).toBe(
      'The route tables are not usable:\nbooks.routes.ts: GET /b/:isbn: the same method and path as books.routes.ts: GET /b/:id',
    );
  });

  it('lets a WebSocket row stand beside a GET row', () => {
    const live = doc('subscription S { unavailable { seq } }');
    const rows = [
      route(doc('query Q { failing }'), get),
      route.webSocket(live, { path: '/x', message: (result) => result }),
    ];
    const bridge = createBridge({ schema, context: () => ({}), tables: [routes(import.meta.url, rows)] });
    expect(
      bridge.routes.map(({ file, kind, method, path, operationName }) => [
        file,
        kind,
        method,
        path,
        operationName,
      ]),
    ).toEqual([
      ['start-up.test.ts', 'json', 'GET', '/x', 'Q'],
      ['start-up.test.ts', 'webSocket', 'GET', '/x', 'S'],
    ]);
  });
});
