import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RowAnswer, type RowCall, route, routes } from '../src/index.js';
import { document, library } from './support/library.js';
import { call, type Running, serve } from './support/server.js';

const Book = document<{ book: { id: string } }>('query Book { book(id: 1) { id } }');
const AddBook = document<{ addBook: { id: string; title: string } }, { input: { title: string } }>(
  'mutation AddBook($input: BookInput!) { addBook(input: $input) { id title } }',
);

describe('around', () => {
  let running: Running;
  let asked: string[];
  let calls: RowCall<unknown>[];
  let before: RowAnswer | undefined;
  let failure: Error | undefined;
  let books: ReturnType<typeof library>;

  beforeEach(async () => {
    [asked, calls, before, failure] = [[], [], undefined, undefined];
    books = library();
    running = await serve({
      schema: books.schema,
      tables: [
        routes(import.meta.url, [
          route(Book, { method: 'GET', path: '/book' }),
          route(AddBook, {
            method: 'POST',
            path: '/books',
            body: { variable: 'input', readOnly: ['id'] },
            status: 201,
            responseHeaders: ({ addBook }) => ({ location: `/books/${addBook.title}` }),
          }),
        ]),
      ],
      around: ({ method, path, status }) => {
        asked.push(`${method} ${path} ${status}`);
        if (method === 'GET') return undefined;
        return async (wanted, answer) => {
          calls.push(wanted);
          if (failure) throw failure;
          before ??= await answer();
          return before;
        };
      },
    });
  });
  afterEach(() => running.close());

  it('is asked once for each row, at the start', async () => {
    await call(`${running.url}/book`);
    await call(`${running.url}/books`, 'POST', { title: 'Emma' });
    expect(asked).toEqual(['GET /book undefined', 'POST /books 201']);
  });

  it('sees the checked body and may answer without running the operation', async () => {
    const first = await call(`${running.url}/books`, 'POST', { id: '7', title: 'Emma' });
    const second = await call(`${running.url}/books`, 'POST', { title: 'Persuasion' });
    for (const answer of [first, second]) {
      expect(answer.status).toBe(201);
      expect(answer.headers.get('location')).toBe('/books/Emma');
      expect(answer.body).toMatchObject({ title: 'Emma' });
    }
    expect(calls.map(({ body }) => body)).toEqual([
      { title: 'Emma', availability: 'IN_STOCK', tags: [] },
      { title: 'Persuasion', availability: 'IN_STOCK', tags: [] },
    ]);
    expect(books.seen).toHaveLength(1);
  });

  it('is not asked about what is refused before, and refuses in the language of the surface', async () => {
    expect((await call(`${running.url}/books`, 'POST', {})).status).toBe(400);
    expect(calls).toEqual([]);
    failure = new Error('not again');
    expect(await call(`${running.url}/books`, 'POST', { title: 'Emma' })).toMatchObject({
      status: 500,
      body: { kind: 'thrown', message: 'not again' },
    });
    expect(books.seen).toEqual([]);
  });
});
