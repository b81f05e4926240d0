import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { param, route, routes } from '../src/index.js';
import { document, type Library, library } from './support/library.js';
import { call, type Running, serve } from './support/server.js';

type Book = { id: string; title: string; pages: number | null; author: { born: number | null } | null };
interface BookInput {
  title: string;
  pages?: number | null;
}
const FIELDS = 'id title pages price author { name born } extra';
const GetBook = document<{ book: Book | null }, { id: string }>(
  `query GetBook($id: ID!) { book(id: $id) { ${FIELDS} } }`,
);
const ListBooks = document<
  { books: { data: Book[]; meta: number } },
  { limit?: number | null; availability?: string[] | null }
>(
  `query ListBooks($limit: Int, $availability: [Availability!]) {
    books(limit: $limit, availability: $availability) { data { book_id: id author { born } } meta: total }
  }`,
);
const AddBook = document<{ addBook: Book }, { input: BookInput }>(
  'mutation AddBook($input: BookInput!) { addBook(input: $input) { id title availability tags addedAt } }',
);
const ChangeBook = document<{ changeBook: unknown }, { id: string; patch: { title?: string | null } }>(
  'mutation ChangeBook($id: ID!, $patch: BookPatch!) { changeBook(id: $id, patch: $patch) }',
);
const ImportBooks = document<{ importBooks: number }, { books: BookInput[] }>(
  'mutation ImportBooks($books: [BookInput!]!) { importBooks(books: $books) }',
);
const RemoveBook = document<{ removeBook: boolean }, { id: string }>(
  'mutation RemoveBook($id: ID!) { removeBook(id: $id) }',
);
const Echo = document<{ echo: unknown }, { value?: unknown }>(
  'query Echo($value: JSON) { echo(value: $value) }',
);
const Failing = document<{ failing: string }>('query Failing { failing }');
const Half = document<{ half: string | null; book: Book | null }>('query Half { half book(id: 1) { id } }');
const Item = document<{ item: { title: string } | null }, { id: string }>(
  'query Item($id: ID!) { item(id: $id) { title ... on Map { scale } } }',
);

const byId = ({ params }: { params: { id: string } }) => ({ id: params.id });

const table = routes(import.meta.url, [
  route(GetBook, { method: 'GET', path: '/books/:id', variables: byId }),
  route(ListBooks, {
    method: 'GET',
    path: '/books',
    query: {
      limit: param.int({ min: 1, max: 100, default: 2 }),
      availability: param.list(param.oneOf(['IN_STOCK', 'ON_LOAN'])),
      since: param.dateTime(),
      rare: param.boolean(),
      shelf: param.uuid(),
    },
    headers: { 'x-reader': param.int() },
    variables: ({ query }) => ({
      limit: query.limit,
      availability: query.availability && [...query.availability],
    }),
    responseHeaders: ({ books }) => ({ 'X-Total': String(books.meta) }),
    nulls: { 'data.author.born': 'omit' },
  }),
  // After `/books/:id` on purpose: the order of rows must not matter.
  route(Echo, { method: 'GET', path: '/books/history', variables: () => ({ value: 'history' }) }),
  route(AddBook, {
    method: 'POST',
    path: '/books',
    body: { variable: 'input', readOnly: ['id', 'createdAt'], limitBytes: 2_000 },
    status: ({ addBook }) => (addBook.title === 'known' ? 200 : 201),
  }),
  route(ChangeBook, {
    method: 'PATCH',
    path: '/books/:id',
    params: { id: param.int({ min: 1 }) },
    query: { why: param.string({ required: true, minLength: 3 }) },
    body: { variable: 'patch' },
    variables: ({ params, body }) => ({
      id: String(params.id),
      patch: { ...body, pages: undefined } as typeof body,
    }),
  }),
  route(ImportBooks, { method: 'PUT', path: '/books', body: { variable: 'books' } }),
  route(RemoveBook, { method: 'DELETE', path: '/books/:id', variables: byId, response: 'none' }),
  route(Echo, {
    method: 'POST',
    path: '/echo',
    body: { type: 'freeform', variable: 'value' },
    response: 'freeform',
    nulls: 'omit',
  }),
  route(Echo, {
    method: 'POST',
    path: '/text',
    body: { type: 'text' },
    variables: ({ body }) => ({ value: body.toUpperCase() }),
    response: 'text',
  }),
  route(Echo, {
    method: 'POST',
    path: '/ping',
    body: { type: 'freeform', variable: 'value', optional: true },
  }),
  route(Failing, { method: 'GET', path: '/failing' }),
  route(Half, { method: 'GET', path: '/half' }),
  route(Item, { method: 'GET', path: '/items/:id', variables: byId, nulls: 'omit' }),
  route(GetBook, {
    method: 'GET',
    path: '/trimmed/:id',
    variables: byId,
    nulls: { '*': 'omit', 'book.price': 'keep' },
    select: ({ book }) => ({ book: book ?? undefined, found: book !== null }),
  }),
  route(GetBook, {
    method: 'GET',
    path: '/thrower/:id',
    variables: () => {
      throw new Error('variables broke');
    },
  }),
  route(GetBook, { method: 'GET', path: '/strict/:id', unknownQuery: 'refuse', variables: byId }),
  route(GetBook, {
    method: 'GET',
    path: '/',
    variables: () => ({ id: '1' }),
    select: ({ book }) => book?.title,
  }),
  route(GetBook, { method: 'GET', path: '/staff/:id', access: 'staff', variables: byId }),
]);

describe('JSON rows', () => {
  let lib: Library;
  let running: Running;
  let url: string;
  beforeAll(async () => {
    lib = library();
    running = await serve({
      schema: lib.schema,
      tables: [table],
      context: async (_request, access, { route: info, response }) => {
        if (access === 'staff') throw new Error(`${info.operationName} is for staff`);
        response?.setHeader('x-operation', info.operationName);
        return {};
      },
    });
    url = running.url;
  });
  afterAll(() => running.close());
  beforeEach(() => {
    lib.seen.length = 0;
    running.unexpected.length = 0;
  });

  const problemsOf = ({ body }: { body: unknown }) =>
    (body as { problems: { in: string; field: string; constraint: string }[] }).problems.map(
      (problem) => `${problem.in} ${problem.field} ${problem.constraint}`,
    );

  describe('routing', () => {
    it("answers the only root field, with the host's headers", async () => {
      const answer = await call(`${url}/books/1`);
      expect(answer).toMatchObject({
        status: 200,
        body: { id: '1', title: 'Solaris', pages: 204, price: null },
      });
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.headers.get('x-operation')).toBe('GetBook');
    });

    it('prefers a literal segment whatever the order of rows, and tolerates one trailing slash', async () => {
      expect((await call(`${url}/books/history`)).body).toBe('history');
      expect((await call(`${url}/books/history/`)).body).toBe('history');
      expect((await call(`${url}/books/history/1`)).status).toBe(404);
      expect((await call(`${url}/books//`)).status).toBe(404);
      expect((await call(`${url}/`)).body).toBe('Solaris');
    });

    it('decodes a path parameter once, and refuses a broken escape', async () => {
      await call(`${url}/books/a%2Fb%2525`);
      expect(lib.seen).toEqual([{ field: 'book', args: { id: 'a/b%25' } }]);
      expect(problemsOf(await call(`${url}/books/%E0%A4`))).toEqual(['path id isPercentEncoded']);
    });

    it('serves HEAD from GET without a body', async () => {
      const head = await call(`${url}/books/1`, 'HEAD');
      const get = await call(`${url}/books/1`);
      expect([head.status, head.body]).toEqual([200, '']);
      expect(head.headers.get('content-length')).toBe(String(JSON.stringify(get.body).length));
    });

    it('answers OPTIONS and 405 with Allow, 404 otherwise', async () => {
      const options = await call(`${url}/books/1`, 'OPTIONS');
      expect([options.status, options.headers.get('allow')]).toEqual([
        204,
        'DELETE, GET, HEAD, OPTIONS, PATCH',
      ]);
      const post = await call(`${url}/books/1`, 'POST', {});
      expect(post).toMatchObject({ status: 405, body: { kind: 'method-not-allowed' } });
      expect(post.headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, PATCH');
      expect(await call(`${url}/shelves`)).toMatchObject({ status: 404, body: { kind: 'not-found' } });
    });

    it('answers 204 without a body or length for a row without response', async () => {
      const answer = await call(`${url}/books/1`, 'DELETE');
      expect([answer.status, answer.body, answer.headers.get('content-length')]).toEqual([204, '', null]);
    });
  });

  describe('parameters', () => {
    it('reads defaults, lists given either way, and response headers', async () => {
      const answer = await call(`${url}/books`);
      expect(answer.body).toEqual({ data: Array(2).fill({ book_id: '1', author: {} }), meta: 40 });
      expect(answer.headers.get('x-total')).toBe('40');
      await call(`${url}/books?limit=1&availability=IN_STOCK,ON_LOAN&availability=ON_LOAN&unknown=1`);
      expect(lib.seen.at(-1)?.args).toEqual({ limit: 1, availability: ['IN_STOCK', 'ON_LOAN', 'ON_LOAN'] });
      expect(lib.seen[0]?.args).toEqual({ limit: 2 });
    });

    it('names every bad parameter at once', async () => {
      const query = 'limit=101&availability=IN_STOCK,GONE&since=2024-02-30T00:00:00Z&rare=yes&shelf=1&a=%zz';
      const answer = await call(`${url}/books?${query}`, 'GET', undefined, { 'x-reader': 'me' });
      expect(answer.status).toBe(400);
      expect(problemsOf(answer)).toEqual([
        'query a isPercentEncoded',
        'query limit max',
        'query availability isIn',
        'query since isDateTime',
        'query rare isBoolean',
        'query shelf isUuid',
        'header x-reader isInt',
      ]);
      expect(lib.seen).toEqual([]);
    });

    it('refuses a repeated single value, an empty number and, on request, unknown names', async () => {
      expect(problemsOf(await call(`${url}/books?limit=1&limit=2`))).toEqual(['query limit isSingle']);
      expect(problemsOf(await call(`${url}/books?limit=`))).toEqual(['query limit isInt']);
      expect(problemsOf(await call(`${url}/strict/1?toString=1&x`))).toEqual([
        'query toString whitelistValidation',
        'query x whitelistValidation',
      ]);
    });

    it('lists path, query and body problems together', async () => {
      const answer = await call(`${url}/books/zero`, 'PATCH', { title: 1, isbn: 'x' });
      expect(problemsOf(answer)).toEqual([
        'path id isInt',
        'query why isDefined',
        'body isbn whitelistValidation',
        'body title isString',
      ]);
    });
  });

  describe('bodies', () => {
    const post = (body: unknown, headers?: Record<string, string>) =>
      call(`${url}/books`, 'POST', body, headers);

    it('drops read-only fields, fills defaults and keeps null apart from absent', async () => {
      const answer = await post({ id: 9, createdAt: 'x', title: 'Eden', pages: null });
      expect(answer).toMatchObject({
        status: 201,
        body: { title: 'Eden', availability: 'IN_STOCK', tags: [] },
      });
      expect(lib.seen).toEqual([
        {
          field: 'addBook',
          args: { input: { title: 'Eden', pages: null, availability: 'IN_STOCK', tags: [] } },
        },
      ]);
      expect((await post({ title: 'known' })).status).toBe(200);
    });

    it('finds every structural problem at its path', async () => {
      const answer = await post({
        title: null,
        pages: 2 ** 31,
        price: '1',
        availability: 'GONE',
        tags: ['a', 1],
        author: { born: 1.5, nmae: 'x' },
        addedAt: 'yesterday',
        shelf: 'x',
        rare: 'true',
      });
      expect(problemsOf(answer)).toEqual([
        'body title isNotNull',
        'body pages isInt',
        'body price isNumber',
        'body availability isIn',
        'body tags.1 isString',
        'body author.nmae whitelistValidation',
        'body author.name isDefined',
        'body author.born isInt',
        'body addedAt isDateTime',
        'body shelf isUuid',
        'body rare isBoolean',
      ]);
      const { problems } = answer.body as { problems: { path: unknown; message: string }[] };
      expect(problems[4]).toMatchObject({ path: ['tags', 1], message: 'tags.1 must be a string' });
    });

    it.each([
      [[], 'body  isObject'],
      ['"text"', 'body  isObject'],
      [{ title: 'x', tags: 'a' }, 'body tags isArray'],
      [{ title: 'x', author: 'Lem' }, 'body author isObject'],
      ['null', 'body  isNotNull'],
      ['{"title":"x","__proto__":{"a":1}}', 'body __proto__ whitelistValidation'],
    ])('refuses %j', async (body, problem) => {
      expect(problemsOf(await post(body))).toEqual([problem]);
    });

    it('bounds the problems it lists', async () => {
      const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`f${at}`, 1]));
      expect(problemsOf(await post(many))).toHaveLength(100);
    });

    it('validates a list body item by item', async () => {
      const answer = await call(`${url}/books`, 'PUT', [{ title: 'a' }, {}, { title: 2 }]);
      expect(problemsOf(answer)).toEqual(['body 1.title isDefined', 'body 2.title isString']);
      expect((await call(`${url}/books`, 'PUT', [{ title: 'a' }])).body).toBe(1);
    });

    it('keeps undefined out of a patch, so that nothing is cleared', async () => {
      const answer = await call(`${url}/books/1?why=because`, 'PATCH', { title: 'New' });
      expect(answer.body).toEqual({ title: 'New' });
      expect((await call(`${url}/books/1?why=because`, 'PATCH', { title: null })).body).toEqual({
        title: null,
      });
    });

    it('never refuses a request without a body for its content type', async () => {
      for (const headers of [{}, { 'content-type': 'text/html' }, { 'content-length': '0' }]) {
        const answer = await call(`${url}/books`, 'POST', undefined, headers as Record<string, string>);
        expect([answer.status, problemsOf(answer)]).toEqual([400, ['body title isDefined']]);
      }
      expect((await call(`${url}/books/1?why=because`, 'PATCH')).body).toEqual({});
      expect(problemsOf(await call(`${url}/echo`, 'POST'))).toEqual(['body  isDefined']);
      expect((await call(`${url}/ping`, 'POST')).body).toBe(null);
      expect(lib.seen.at(-1)).toEqual({ field: 'echo', args: {} });
    });

    it('takes JSON under its several names and refuses the rest', async () => {
      const body = JSON.stringify({ title: 'Eden' });
      for (const type of [
        'application/json; charset=utf-8',
        'application/merge-patch+json',
        'Application/JSON;charset="UTF-8"',
      ]) {
        expect((await post(body, { 'content-type': type })).status).toBe(201);
      }
      for (const headers of [
        { 'content-type': 'text/plain' },
        { 'content-type': 'application/x-www-form-urlencoded' },
        { 'content-type': 'application/json; charset=latin1' },
        { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      ] as Record<string, string>[]) {
        expect(await post(body, headers)).toMatchObject({
          status: 415,
          body: { kind: 'unsupported-media-type' },
        });
      }
    });

    it('refuses malformed JSON and broken UTF-8', async () => {
      expect(await post('{"title":')).toMatchObject({ status: 400, body: { kind: 'malformed-body' } });
      const broken = await fetch(`${url}/books`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from([0x22, 0xff, 0x22]),
      });
      expect(await broken.json()).toMatchObject({
        kind: 'malformed-body',
        message: 'The request body is not UTF-8',
      });
    });

    it('takes free-form JSON and text as they come, and leaves nulls inside data alone only when told', async () => {
      expect((await call(`${url}/echo`, 'POST', { a: [1, { b: 'c' }] })).body).toEqual({
        a: [1, { b: 'c' }],
      });
      const text = await call(`${url}/text`, 'POST', 'grüße', { 'content-type': 'text/plain' });
      expect([text.body, text.headers.get('content-type')]).toEqual(['GRÜSSE', 'text/plain; charset=utf-8']);
    });
  });

  describe('results', () => {
    it('follows the null policy per path, below lists as well', async () => {
      expect((await call(`${url}/trimmed/1`)).body).toEqual({
        book: {
          id: '1',
          title: 'Solaris',
          pages: 204,
          price: null,
          author: { name: 'Lem' },
          extra: { shelfmark: null },
        },
        found: true,
      });
      expect((await call(`${url}/trimmed/2`)).body).toEqual({ found: false });
    });

    it('resolves interfaces', async () => {
      expect((await call(`${url}/items/1`)).body).toEqual({ title: 'Solaris' });
      expect((await call(`${url}/items/2`)).body).toEqual({ title: 'City', scale: 5000 });
    });

    it('hands GraphQL errors on with path, extensions and cause', async () => {
      expect(await call(`${url}/failing`)).toMatchObject({
        status: 502,
        body: { errors: [{ message: 'the shelf fell', path: ['failing'], extensions: { code: 'SHELF' } }] },
      });
      expect(running.unexpected[0]).toMatchObject({ message: 'the shelf fell' });
    });

    it('is a failure when only a part of the data is there', async () => {
      expect(await call(`${url}/half`)).toMatchObject({
        status: 502,
        body: { errors: [{ message: 'only half' }] },
      });
    });

    it('renders what the context factory or a row throws', async () => {
      expect(await call(`${url}/staff/1`)).toMatchObject({
        status: 500,
        body: { kind: 'thrown', message: 'GetBook is for staff' },
      });
      expect((await call(`${url}/thrower/1`)).body).toEqual({ kind: 'thrown', message: 'variables broke' });
    });
  });
});
