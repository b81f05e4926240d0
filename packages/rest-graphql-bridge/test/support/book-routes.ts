import { param, route, routes } from '../../src/index.js';
import { document } from './library.js';

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

/** Rows over the library that use every option a JSON row has. */
export const bookRoutes = routes(import.meta.url, [
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
