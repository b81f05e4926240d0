import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { emitOpenApi, param, route, routes } from '../src/index.js';
import { document, library } from './support/library.js';

type Book = { title: string; pages: number | null; author: { name: string; born: number | null } | null };
const GetBook = document<{ book: Book | null }, { id: string }>(`
  query GetBook($id: ID!) {
    book(id: $id) { book_id: id title pages ...People extra addedAt tags availability price @include(if: true) }
  }
  fragment People on Book { author { name born } }
`);
const ListBooks = document<{ books: { data: Book[]; total: number } }, { limit?: number }>(
  'query ListBooks($limit: Int) { books(limit: $limit) { data { title pages author { name } } total } }',
);
const AddBook = document<{ addBook: { id: string } }, { input: object }>(
  'mutation AddBook($input: BookInput!) { addBook(input: $input) { id } }',
);
const Matching = document<{ matching: unknown }, { condition: object }>(
  'query Matching($condition: Condition!) { matching(condition: $condition) }',
);
const LookUp = document<{ lookUp: string | null }, { by: object }>(
  'query LookUp($by: Lookup!) { lookUp(by: $by) }',
);
const Item = document<{ item: { title: string } | null }, { id: string }>(
  'query Item($id: ID!) { item(id: $id) { title ... on Map { scale } ... on Item { id } } }',
);
const Echo = document<{ echo: unknown }, { value?: unknown }>(
  'query Echo($value: JSON) { echo(value: $value) }',
);
const Loans = document<{ loans: { seq: number } }, { bookId: string }>(
  'subscription Loans($bookId: ID!) { loans(bookId: $bookId) { seq } }',
);
const id = ({ params }: { params: { id: string } }) => ({ id: params.id });
const bookId = ({ params }: { params: { id: string } }) => ({ bookId: params.id });

const { schema } = library();
const table = routes(import.meta.url, [
  route(GetBook, {
    method: 'GET',
    path: '/v1/books/:id',
    params: { id: param.uuid({ description: 'The number on the spine.' }) },
    variables: id,
    nulls: { pages: 'omit', 'author.born': 'omit' },
    summary: 'One book',
    tags: ['books'],
    security: [],
  }),
  route(ListBooks, {
    method: 'GET',
    path: '/v1/books',
    query: {
      limit: param.int({ min: 1, max: 50, default: 10 }),
      tag: param.list(param.oneOf(['new', 'rare'])),
      q: param.string({ required: true, maxLength: 80, example: 'eden' }),
    },
    headers: { 'x-reader': param.int() },
    variables: ({ query }) => ({ limit: query.limit }),
    select: ({ books }) => ({
      ...books,
      data: books.data.map((book) => ({ ...book, kind: 'book', by: book.author?.name })),
      meta: { count: books.total, first: books.data.length },
    }),
    nulls: 'omit',
  }),
  route(AddBook, {
    method: 'POST',
    path: '/v1/books',
    body: { variable: 'input' },
    status: 201,
    deprecated: true,
  }),
  route(AddBook, {
    method: 'PUT',
    path: '/v1/books',
    body: { variable: 'input' },
    status: () => 200,
    response: 'none',
  }),
  route(Matching, {
    method: 'POST',
    path: '/v1/matching',
    body: { variable: 'condition', optional: true },
    variables: ({ body }) => ({ condition: body ?? {} }),
  }),
  route(LookUp, { method: 'POST', path: '/v1/look-up', body: { variable: 'by' } }),
  route(Item, { method: 'GET', path: '/v1/items/:id', variables: id }),
  route(Echo, {
    method: 'POST',
    path: '/v1/text',
    body: { type: 'text' },
    variables: ({ body }) => ({ value: body }),
    response: 'text',
  }),
  route(Echo, {
    method: 'POST',
    path: '/v1/upload',
    body: { type: 'multipart', fileField: 'cover' },
    select: ({ echo }) => `${echo}!`,
    responseSchema: { type: 'string' },
  }),
  route(Echo, {
    method: 'POST',
    path: '/v1/computed',
    body: { type: 'freeform', variable: 'value' },
    select: ({ echo }) => Number(echo) + 1,
  }),
  route.sse(Loans, {
    path: '/v1/books/:id/loans',
    variables: bookId,
    event: ({ loans }) => ({ data: loans }),
  }),
  route.webSocket(Loans, { path: '/v1/books/:id/live', variables: bookId, message: ({ loans }) => loans }),
  route(Echo, { method: 'GET', path: '/other' }),
]);

const emit = () =>
  emitOpenApi({
    schema,
    tables: [table],
    prefix: '/v1',
    info: { title: 'Books', version: '1.0.0' },
    servers: [{ url: 'https://books.example' }],
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    security: [{ bearer: [] }],
    errorSchema: { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] },
    errorStatuses: () => [401],
  });

// biome-ignore lint/suspicious/noExplicitAny: a document is walked here as the JSON it is.
const parts = () => JSON.parse(JSON.stringify(emit())) as any;

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 and always the same', async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(emit())));
    expect(result).toEqual({ valid: true });
    expect(JSON.stringify(emit())).toBe(JSON.stringify(emit()));
  });

  it('holds the rows below the prefix, under unique operation ids', () => {
    const { paths } = parts();
    expect(Object.keys(paths)).toEqual([
      '/v1/books',
      '/v1/books/{id}',
      '/v1/books/{id}/live',
      '/v1/books/{id}/loans',
      '/v1/computed',
      '/v1/items/{id}',
      '/v1/look-up',
      '/v1/matching',
      '/v1/text',
      '/v1/upload',
    ]);
    expect(paths['/v1/books'].post).toMatchObject({ operationId: 'AddBook', deprecated: true });
    expect(paths['/v1/books'].put).toMatchObject({ operationId: 'AddBook_2' });
    expect(paths['/v1/books/{id}'].get).toMatchObject({ summary: 'One book', tags: ['books'], security: [] });
  });

  it('describes parameters as their parsers read them', () => {
    const { paths } = parts();
    expect(paths['/v1/books'].get.parameters).toEqual([
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
      },
      {
        name: 'tag',
        in: 'query',
        required: false,
        style: 'form',
        explode: true,
        schema: { type: 'array', items: { type: 'string', enum: ['new', 'rare'] }, maxItems: 1000 },
      },
      {
        name: 'q',
        in: 'query',
        required: true,
        schema: { type: 'string', maxLength: 80, examples: ['eden'] },
      },
      { name: 'x-reader', in: 'header', required: false, schema: { type: 'integer' } },
    ]);
    expect(paths['/v1/books/{id}'].get.parameters).toEqual([
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'The number on the spine.',
        schema: { type: 'string', format: 'uuid' },
      },
    ]);
  });

  it('types responses by selection, alias, nullability and null policy', () => {
    const { GetBookResponse } = parts().components.schemas;
    expect(GetBookResponse).toEqual({
      // The root field is nullable.
      type: ['object', 'null'],
      properties: {
        book_id: { type: 'string' },
        title: { type: 'string', description: 'The title on the cover.' },
        pages: { type: 'integer', format: 'int32' },
        author: {
          type: ['object', 'null'],
          properties: { name: { type: 'string' }, born: { type: 'integer', format: 'int32' } },
          required: ['name'],
        },
        extra: {},
        addedAt: { type: 'string', format: 'date-time' },
        tags: { type: 'array', items: { type: 'string' } },
        availability: { $ref: '#/components/schemas/Availability' },
        price: { type: ['number', 'null'], format: 'double' },
      },
      required: ['book_id', 'title', 'author', 'extra', 'addedAt', 'tags', 'availability'],
    });
  });

  it('follows select through spread, map and constants', () => {
    const { ListBooksResponse } = parts().components.schemas;
    expect(ListBooksResponse.required).toEqual(['data', 'total', 'meta']);
    const book = ListBooksResponse.properties.data.items;
    expect(book.required).toEqual(['title', 'kind']);
    expect(Object.keys(book.properties)).toEqual(['title', 'pages', 'author', 'kind', 'by']);
    expect(book.properties).toMatchObject({ kind: { type: 'string' }, by: { type: 'string' } });
    expect(ListBooksResponse.properties.meta.properties).toEqual({
      count: { type: 'integer', format: 'int32' },
      first: { type: 'number' },
    });
  });

  it('types bodies by their input types, the recursive and the @oneOf ones too', () => {
    const { paths, components } = parts();
    expect(paths['/v1/books'].post.requestBody).toEqual({
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/BookInput' } } },
    });
    expect(components.schemas.BookInput).toMatchObject({ required: ['title'], additionalProperties: false });
    expect(components.schemas.BookInput.properties).toMatchObject({
      availability: { $ref: '#/components/schemas/Availability', default: 'IN_STOCK' },
      tags: { type: ['array', 'null'], default: [] },
      author: { anyOf: [{ $ref: '#/components/schemas/AuthorInput' }, { type: 'null' }] },
      shelf: { type: ['string', 'null'], format: 'uuid' },
    });
    expect(components.schemas.Condition.properties.all.items).toEqual({
      $ref: '#/components/schemas/Condition',
    });
    expect(components.schemas.Lookup).toMatchObject({ minProperties: 1, maxProperties: 1 });
    expect(components.schemas.Availability).toEqual({
      type: 'string',
      enum: ['IN_STOCK', 'ON_LOAN', 'LOST'],
      description: 'How a copy can be obtained.',
    });
    expect(paths['/v1/matching'].post.requestBody.required).toBe(false);
    expect(paths['/v1/upload'].post.requestBody.content['multipart/form-data'].schema.required).toEqual([
      'cover',
    ]);
  });

  it('names fields of some possible types only as optional', () => {
    const { ItemResponse } = parts().components.schemas;
    expect(Object.keys(ItemResponse.properties)).toEqual(['title', 'scale', 'id']);
    expect(ItemResponse.required).toEqual(['title', 'id']);
  });

  it("says what it does not know, and takes the row's word for it", () => {
    const { paths } = parts();
    const schemaOf = (path: string) => paths[path].post.responses['200'].content['application/json'].schema;
    expect(schemaOf('/v1/computed')).toEqual({});
    expect(schemaOf('/v1/upload')).toEqual({ type: 'string' });
    expect(Object.keys(paths['/v1/books'].put.responses)).toContain('2XX');
  });

  it('lists errors that can happen, streams and upgrades', () => {
    const { paths } = parts();
    expect(Object.keys(paths['/v1/books'].post.responses)).toEqual([
      '201',
      '400',
      '401',
      '413',
      '415',
      'default',
    ]);
    expect(Object.keys(paths['/v1/books/{id}'].get.responses)).toEqual([
      '200',
      '400',
      '401',
      '404',
      'default',
    ]);
    expect(paths['/v1/books/{id}/loans'].get.responses['200'].content).toHaveProperty('text/event-stream');
    expect(paths['/v1/books/{id}/live'].get.responses).toHaveProperty('101');
  });
});
