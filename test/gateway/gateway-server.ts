import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeExecutableSchema } from '@graphql-tools/schema';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { Express } from 'express';
import { parse } from 'graphql';
import type { Logger } from 'pino';
import { createBridge, param, route, routes } from 'rest-graphql-bridge';
import type { Config } from '../../src/config.js';
import { createGateway, type Gateway } from '../../src/gateway/create-gateway.js';
import type { LifeStage } from '../../src/gateway/health.js';
import { recordOf, requestIdOf } from '../../src/gateway/request-record.js';
import { pathOf } from '../../src/gateway/surface.js';
import { createLogger } from '../../src/logger.js';
import { createItsmErrors } from '../../src/rest/envelopes/itsm-errors.js';
import { createPlatformErrors } from '../../src/rest/envelopes/platform-errors.js';

export const NOW = new Date('2026-01-02T03:04:05.678Z');

/** Lines a real logger wrote, parsed. */
export function captureLog(level: Config['logLevel'] = 'debug'): {
  log: Logger;
  lines: Record<string, unknown>[];
} {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  return { log: createLogger({ logLevel: level }, { write }), lines };
}

export interface TestGateway {
  url: string;
  server: Server;
  gateway: Gateway;
  lines: Record<string, unknown>[];
  close(): Promise<void>;
}

export interface TestGatewayOptions {
  /** What the operations `item` and `saveItem` do; throws what is to be rendered. */
  resolve?: (args: unknown) => unknown;
  /** Thrown where the context is made, as authentication would. */
  context?: () => void;
  mount?: (app: Express) => void;
  stage?: () => LifeStage;
}

const typeDefs = `
  enum Colour { RED GREEN }
  input ItemInput { title: String!, size: Int, colour: Colour }
  type Item { title: String! }
  type Query { item(id: ID!, size: Int): Item! }
  type Mutation { saveItem(input: ItemInput!): Item! }
`;

interface Item {
  title: string;
}

const readItem: TypedDocumentNode<{ item: Item }, { id: string; size?: number }> = parse(
  'query ReadItem($id: ID!, $size: Int) { item(id: $id, size: $size) { title } }',
);
const saveItem: TypedDocumentNode<{ saveItem: Item }, { input: Item }> = parse(
  'mutation SaveItem($input: ItemInput!) { saveItem(input: $input) { title } }',
);

function table(prefix: string) {
  const id = param.string({ pattern: /^itm_\d+$/ });
  return routes(import.meta.url, [
    route(readItem, {
      method: 'GET',
      path: `${prefix}/items/:id`,
      params: { id },
      query: { size: param.int({ min: 1, max: 10 }) },
      variables: ({ params, query }) => ({
        id: params.id,
        ...(query.size !== undefined && { size: query.size }),
      }),
    }),
    route(saveItem, { method: 'POST', path: `${prefix}/items`, body: { variable: 'input' }, status: 201 }),
  ]);
}

/** The gateway in front of a bridge with one small resource on each surface, on a free port. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { log, lines } = captureLog();
  const resolve = options.resolve ?? (() => ({ title: 'a' }));
  const schema = makeExecutableSchema({
    typeDefs,
    resolvers: {
      Query: { item: (_source, args: unknown) => resolve(args) },
      Mutation: { saveItem: (_source, args: unknown) => resolve(args) },
    },
  });
  const surfaces = [
    { prefix: '/v1', errors: createItsmErrors({ requestId: requestIdOf, path: pathOf, now: () => NOW }) },
    { prefix: '/', errors: createPlatformErrors({ path: pathOf, now: () => NOW }) },
  ];
  const bridge = createBridge({
    schema,
    tables: [table('/v1'), table('/api/v1')],
    surfaces: surfaces.map(({ prefix, errors }) => ({ prefix: prefix === '/' ? '/api' : prefix, errors })),
    maxBodyBytes: 1_000,
    context: (request, _access, { route: { path } }) => {
      recordOf(request).route = path;
      options.context?.();
      return {};
    },
  });
  const gateway = createGateway({
    log,
    readiness: {
      get stage() {
        return options.stage?.() ?? 'ready';
      },
    },
    surfaces,
    databasePool: () => ({ total: 5, idle: 2, waiting: 3 }),
    mount(app) {
      options.mount?.(app);
      app.use(bridge.middleware);
    },
  });
  const server = createServer(gateway.app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    gateway,
    lines,
    async close() {
      gateway.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
