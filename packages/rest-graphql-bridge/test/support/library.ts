import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLScalarType,
  type GraphQLSchema,
  Kind,
  parse,
} from 'graphql';
import { Broadcast } from './broadcast.js';

/** A schema about books, with each kind of input and result the bridge has to cope with. */
const SDL = /* GraphQL */ `
  scalar DateTime
  scalar UUID
  scalar JSON

  "How a copy can be obtained."
  enum Availability { IN_STOCK ON_LOAN LOST }

  type Author { name: String! born: Int }

  "A book as the catalogue knows it."
  type Book implements Item {
    id: ID!
    "The title on the cover."
    title: String!
    pages: Int
    price: Float
    availability: Availability!
    tags: [String!]!
    author: Author
    addedAt: DateTime!
    extra: JSON
  }
  type Map implements Item { id: ID! title: String! scale: Int! }
  interface Item { id: ID! title: String! }

  input AuthorInput { name: String! born: Int }
  input BookInput {
    title: String!
    pages: Int
    price: Float
    availability: Availability! = IN_STOCK
    tags: [String!] = []
    author: AuthorInput
    addedAt: DateTime
    shelf: UUID
    rare: Boolean
    extra: JSON
  }
  input BookPatch { title: String pages: Int author: AuthorInput }
  input Since { at: DateTime = "2020-01-01T00:00:00Z" }
  input Condition { all: [Condition!] title: String }
  input Lookup @oneOf { id: ID title: String }

  type Page { data: [Book!]! total: Int! }
  type Echo { given: JSON }
  type Query {
    book(id: ID!): Book
    books(limit: Int = 2, after: String, availability: [Availability!], since: DateTime): Page!
    item(id: ID!): Item
    echo(value: JSON): JSON
    addedSince(since: Since!): String!
    addedAfter(at: DateTime!): String!
    matching(condition: Condition!): JSON
    lookUp(by: Lookup!): String
    patchOf(patch: BookPatch!): JSON
    failing: String!
    half: String
  }
  type Mutation {
    addBook(input: BookInput!): Book!
    changeBook(id: ID!, patch: BookPatch!): JSON!
    importBooks(books: [BookInput!]!): Int!
    removeBook(id: ID!): Boolean!
  }
  type Loan { seq: Int! bookId: ID! note: String }
  type Subscription { loans(bookId: ID!, after: Int): Loan! unavailable: Loan! }
`;

const VALID_DATE = /^\d{4}-\d{2}-\d{2}T/;
const UUID = /^[0-9a-f-]{36}$/;

function toDate(value: unknown): Date {
  if (typeof value !== 'string' || !VALID_DATE.test(value)) throw new TypeError('not a date-time');
  return new Date(value);
}

function toUuid(value: unknown): string {
  if (typeof value !== 'string' || !UUID.test(value)) throw new TypeError('not a UUID');
  return value;
}

export interface Loan {
  readonly seq: number;
  readonly bookId: string;
  readonly note: string | null | Error;
}

export interface Library {
  readonly schema: GraphQLSchema;
  readonly loans: Broadcast<Loan>;
  /** What resolvers were given, newest last. */
  readonly seen: { readonly field: string; readonly args: { readonly [name: string]: unknown } }[];
}

const BOOK = {
  __typename: 'Book',
  id: '1',
  title: 'Solaris',
  pages: 204,
  price: null,
  availability: 'IN_STOCK',
  tags: ['novel'],
  author: { name: 'Lem', born: null },
  addedAt: new Date('2024-05-01T10:00:00Z'),
  extra: { shelfmark: null },
};

/** A fresh schema with its own record of calls, so that tests don't see each other. */
export function library(): Library {
  const schema = buildSchema(SDL);
  const seen: Library['seen'][number][] = [];
  const loans = new Broadcast<Loan>();
  Object.assign(schema.getType('DateTime') as GraphQLScalarType, {
    parseValue: toDate,
    parseLiteral: (node: { kind: string; value?: unknown }) =>
      toDate(node.kind === Kind.STRING ? node.value : null),
    serialize: (value: unknown) => value,
  });
  Object.assign(schema.getType('UUID') as GraphQLScalarType, { parseValue: toUuid });
  const record = (field: string, answer: (args: { [name: string]: unknown }) => unknown) => ({
    field,
    resolve: async (_root: unknown, args: { [name: string]: unknown }) => {
      seen.push({ field, args });
      return answer(args);
    },
  });
  wire(schema.getQueryType(), [
    record('book', ({ id }) => (id === '1' ? BOOK : null)),
    record('books', ({ limit }) => ({ data: Array.from({ length: Number(limit) }, () => BOOK), total: 40 })),
    record('item', ({ id }) => (id === '1' ? BOOK : { __typename: 'Map', id, title: 'City', scale: 5000 })),
    record('echo', ({ value }) => value),
    record('addedSince', ({ since }) => Object.prototype.toString.call((since as { at: unknown }).at)),
    record('addedAfter', ({ at }) => Object.prototype.toString.call(at)),
    record('matching', ({ condition }) => condition),
    record('lookUp', ({ by }) => Object.keys(by as object)[0]),
    record('patchOf', ({ patch }) => patch),
    record('failing', () => {
      throw Object.assign(new Error('the shelf fell'), { extensions: { code: 'SHELF' } });
    }),
    record('half', () => {
      throw new Error('only half');
    }),
  ]);
  wire(schema.getMutationType(), [
    record('addBook', ({ input }) => ({ ...BOOK, ...(input as object) })),
    record('changeBook', ({ patch }) => patch),
    record('importBooks', ({ books }) => (books as unknown[]).length),
    record('removeBook', () => true),
  ]);
  const subscription = schema.getSubscriptionType()?.getFields();
  if (subscription?.loans) {
    subscription.loans.subscribe = (
      _root: unknown,
      { bookId, after = 0 }: { bookId: string; after?: number },
    ) => {
      if (bookId === 'missing')
        throw Object.assign(new Error('no such book'), { extensions: { code: 'NOT_FOUND' } });
      return loans.open((loan) => loan.bookId === bookId && loan.seq > after);
    };
    subscription.loans.resolve = (loan: unknown) => loan;
  }
  return { schema, loans, seen };
}

function wire(
  type: GraphQLObjectType | null | undefined,
  entries: readonly {
    field: string;
    resolve: (root: unknown, args: { [name: string]: unknown }) => unknown;
  }[],
): void {
  for (const { field, resolve } of entries) Object.assign(type?.getFields()[field] ?? {}, { resolve });
}

/** A document whose types the test states itself, as codegen would. */
export function document<R, V extends object = Record<string, never>>(
  source: string,
): TypedDocumentNode<R, V> {
  return parse(source) as TypedDocumentNode<R, V>;
}
