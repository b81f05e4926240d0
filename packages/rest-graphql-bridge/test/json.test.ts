import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type BookServer, problemsOf, serveBooks } from './support/book-server.js';
import { call } from './support/server.js';

describe('JSON rows', () => {
  let books: BookServer;
  let url: string;
  beforeAll(async () => {
    books = await serveBooks();
    url = books.url;
  });
  afterAll(() => books.running.close());
  beforeEach(() => {
    books.seen.length = 0;
    books.running.unexpected.length = 0;
  });

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
      expect(books.seen).toEqual([{ field: 'book', args: { id: 'a/b%25' } }]);
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
      expect(books.seen.at(-1)?.args).toEqual({ limit: 1, availability: ['IN_STOCK', 'ON_LOAN', 'ON_LOAN'] });
      expect(books.seen[0]?.args).toEqual({ limit: 2 });
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
      expect(books.seen).toEqual([]);
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
      expect(books.running.unexpected[0]).toMatchObject({ message: 'the shelf fell' });
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
