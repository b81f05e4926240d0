import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { param } from '../../src/param.js';
import { route, routeFor, routes } from '../../src/route.js';

interface BookInput {
  title: string;
  pages?: number | null;
  author?: { name: string; born?: number | null } | null;
}
interface BookResult {
  book: { id: string; title: string; pages: number | null } | null;
}

const Book = parse('query Book($id: ID!) { book(id: $id) { id title pages } }') as TypedDocumentNode<
  BookResult,
  { id: string }
>;
const Books = parse('query Books($limit: Int) { books(limit: $limit) { id } }') as TypedDocumentNode<
  { books: { id: string }[] },
  { limit?: number | null; status?: ('IN' | 'OUT')[] | null }
>;
const CreateBook = parse(
  'mutation CreateBook($input: BookInput!) { createBook(input: $input) { id } }',
) as TypedDocumentNode<{ createBook: { id: string } }, { input: BookInput }>;
const BookEvents = parse(
  'subscription BookEvents($after: Int) { bookEvents(after: $after) { id } }',
) as TypedDocumentNode<{ bookEvents: { id: string } }, { after?: number | null }>;
const get = 'GET' as const;
const at = '/books/:id' as const;

/** Each `@ts-expect-error` is the assertion: tsc fails when the line below it compiles after all. */
const table = routes(import.meta.url, [
  route(Book, {
    method: get,
    path: at,
    variables: ({ params }) => ({ id: params.id }),
    select: (r) => r.book?.title,
  }),
  route(Book, {
    method: get,
    path: at,
    params: { id: param.uuid() },
    variables: ({ params }) => ({ id: params.id }),
  }),
  // @ts-expect-error a required variable is misspelt
  route(Book, { method: get, path: at, variables: ({ params }) => ({ idd: params.id }) }),
  // @ts-expect-error an operation with a required variable needs variables()
  route(Book, { method: get, path: at }),
  route(Book, {
    method: get,
    path: at,
    variables: ({ params }) => ({ id: params.id }),
    // @ts-expect-error a result field is misspelt
    select: (r) => r.book?.titel,
  }),
  // @ts-expect-error the path has no such parameter
  route(Book, { method: get, path: at, variables: ({ params }) => ({ id: params.isbn }) }),
  // @ts-expect-error a parser for a parameter the path doesn't have
  route(Book, { method: get, path: '/b/:id', params: { isbn: param.int() }, variables: () => ({ id: '1' }) }),
  route(Book, {
    method: get,
    path: '/b/:id',
    params: { id: param.int() },
    // @ts-expect-error a number where the variable is a string
    variables: ({ params }) => ({ id: params.id }),
  }),

  route(Books, { method: get, path: '/books' }),
  route(Books, {
    method: get,
    path: '/books',
    query: { limit: param.int({ default: 25 }), status: param.list(param.oneOf(['IN', 'OUT'])) },
    variables: ({ query }) => ({
      limit: query.limit + 1,
      status: query.status ? [...query.status] : undefined,
    }),
  }),
  // @ts-expect-error an optional variable is misspelt
  route(Books, { method: get, path: '/books', variables: () => ({ limitt: 1 }) }),
  route(Books, {
    method: get,
    path: '/b',
    query: { n: param.int() },
    // @ts-expect-error without a default the parameter may be undefined
    variables: ({ query }) => ({ limit: query.n + 1 }),
  }),
  route(Books, {
    method: get,
    path: '/b',
    query: { n: param.int() },
    // @ts-expect-error the query has no such parameter
    variables: ({ query }) => ({ limit: query.m }),
  }),
  route(Books, {
    method: get,
    path: '/b',
    query: { s: param.oneOf(['OUTT']) },
    // @ts-expect-error not one of the enumeration
    variables: ({ query }) => ({ status: query.s && [query.s] }),
  }),

  route(CreateBook, {
    method: 'POST',
    path: '/books',
    body: { variable: 'input' },
    status: (r) => r.createBook.id.length,
  }),
  route(CreateBook, {
    method: 'POST',
    path: '/books',
    body: { variable: 'input', readOnly: ['id'] },
    variables: ({ body }) => ({ input: { ...body, title: body.title.trim() } }),
  }),
  // @ts-expect-error the operation has no such variable
  route(CreateBook, { method: 'POST', path: '/books', body: { variable: 'book' } }),
  route(CreateBook, {
    method: 'POST',
    path: '/books',
    // @ts-expect-error a misspelt optional field two levels down
    variables: () => ({ input: { title: 'x', author: { name: 'y', bron: 1 } } }),
  }),
  route(CreateBook, {
    method: 'POST',
    path: '/books',
    body: { variable: 'input' },
    // @ts-expect-error a status must be a number
    status: (r) => r.createBook.id,
  }),
  route(CreateBook, {
    method: 'POST',
    path: '/books',
    body: { type: 'text' },
    // @ts-expect-error the body was declared text
    variables: ({ body }) => ({ input: { title: body.title } }),
  }),

  route.sse(BookEvents, {
    path: '/books/stream',
    variables: ({ lastEventId }) => ({ after: lastEventId === undefined ? undefined : Number(lastEventId) }),
    event: (r) => ({ data: r.bookEvents.id }),
  }),
  // @ts-expect-error a result field is misspelt
  route.sse(BookEvents, { path: '/books/stream', event: (r) => ({ data: r.bookEvent }) }),
  route.sse(BookEvents, {
    path: '/books/stream',
    // @ts-expect-error an optional variable is misspelt
    variables: () => ({ aftr: 1 }),
    event: () => ({ data: 1 }),
  }),
  // @ts-expect-error a result field is misspelt
  route.webSocket(BookEvents, { path: '/books/live', message: (r) => r.bookEvents.idd }),
  route.webSocket(BookEvents, {
    path: '/books/live',
    message: (r) => r,
    // @ts-expect-error a close frame needs its code
    closeWhen: () => ({ reason: 'over' }),
  }),
]);

const readerRoute = routeFor<{ reader: { id: string } }>();
const readerTable = routes(import.meta.url, [
  readerRoute(Book, { method: get, path: at, variables: ({ context }) => ({ id: context.reader.id }) }),
  // @ts-expect-error the context has no such property
  readerRoute(Book, { method: get, path: at, variables: ({ context }) => ({ id: context.raeder.id }) }),
]);

describe('typed rows', () => {
  it('keep what the compiler has checked', () => {
    expect(table.file).toBe('route-types.test.ts');
    expect(table.rows.map((row) => row.kind)).toContain('webSocket');
    expect(readerTable.rows).toHaveLength(2);
  });
});
