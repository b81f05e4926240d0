/** One of the peers that `ratios.ts` compares, in a process of its own. Sends its port to the parent. */
import type { AddressInfo } from 'node:net';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import express from 'express';
import { buildSchema, execute, parse } from 'graphql';
import { createBridge, param, route, routes } from 'rest-graphql-bridge';

const COUNT = 25;
const BOOKS = Array.from({ length: COUNT }, (_, at) => ({
  id: String(at),
  title: `The book with the number ${at}`,
  pages: 100 + at,
  price: at % 3 === 0 ? null : 9.5 + at,
  available: at % 2 === 0,
  tags: ['novel', 'translated'],
  author: { name: 'Stanisław Lem', born: 1921 },
  addedAt: '2024-05-01T10:00:00.000Z',
}));

const schema = buildSchema(`
  type Author { name: String! born: Int }
  type Book {
    id: ID! title: String! pages: Int price: Float available: Boolean! tags: [String!]! author: Author! addedAt: String!
  }
  type Page { data: [Book!]! total: Int! }
  type Query { books(limit: Int!): Page! }
`);
// Asynchronous like anything that asks a database.
Object.assign(schema.getQueryType()?.getFields().books ?? {}, {
  resolve: async (_root: unknown, { limit }: { limit: number }) => ({
    data: BOOKS.slice(0, limit),
    total: COUNT,
  }),
});
const document = parse(`query Books($limit: Int!) {
  books(limit: $limit) { data { id title pages price available tags author { name born } addedAt } total }
}`) as TypedDocumentNode<{ books: object }, { limit: number }>;

type Peer = (app: express.Express) => void;

const PEERS: { readonly [name: string]: Peer } = {
  bridge(app) {
    const table = routes(import.meta.url, [
      route(document, {
        method: 'GET',
        path: '/books',
        query: { limit: param.int({ min: 1, max: 100, default: 10 }) },
        variables: ({ query }) => ({ limit: query.limit }),
      }),
    ]);
    app.use(createBridge({ schema, tables: [table], context: () => ({}) }).middleware);
  },
  'bare Express'(app) {
    app.get('/books', async (request, response) => {
      response.json({ data: BOOKS.slice(0, Number(request.query.limit)), total: COUNT });
    });
  },
  'graphql-js behind Express'(app) {
    app.get('/books', async (request, response) => {
      const variableValues = { limit: Number(request.query.limit) };
      const result = await execute({ schema, document, contextValue: {}, variableValues });
      response.json(result.data?.books);
    });
  },
};

const app = express();
app.disable('x-powered-by');
// Express hashes each body for an ETag; the bridge does not, and neither shall its peers.
app.disable('etag');
const peer = PEERS[process.argv[2] ?? ''];
if (!peer) throw new Error(`No such peer: ${process.argv[2]}`);
peer(app);
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));
