import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { GraphQLSchema } from 'graphql';
import { type DestinationStream, pino } from 'pino';
import type { Caller, RequestContext } from '../../src/context.js';
import { AppError } from '../../src/errors.js';
import { buildGraph } from '../../src/graph/build-schema.js';
import { createGraph, type GraphOptions } from '../../src/graph/create-graph.js';
import { LibraryResolver } from './library.js';

const itsm = (userId: string, permissions: string[]): Caller => ({
  itsm: {
    userId,
    email: `${userId}@acme.test`,
    organizationId: 'org_acme',
    role: 'end_user',
    sessionId: 'ses_1',
    tokenId: 'tok_1',
    permissions,
  },
});

const platform = (...roles: NonNullable<Caller['platform']>['roles'][number][]): Caller => ({
  platform: {
    issuer: 'urn:test',
    subject: roles.join('+').toLowerCase(),
    email: undefined,
    roles,
    workspaceId: 'w',
    workspaceSlug: 'default',
    organizationId: 'org_acme',
  },
});

/** By the value of the Authorization header. */
export const callers: Record<string, Caller> = {
  'Bearer reader': itsm('usr_reader', ['tickets:read:own']),
  'Bearer manager': itsm('usr_manager', ['tickets:manage:all']),
  'Bearer stranger': itsm('usr_stranger', ['users:read:all']),
  'Bearer viewer': platform('VIEWER'),
  'Bearer admin': platform('ANALYST', 'ADMIN'),
};

export interface GraphServer {
  url: string;
  webSocketUrl: string;
  schema: GraphQLSchema;
  log: string[];
  /** Answers of the endpoint, as a client sees them. */
  post(body: unknown, headers?: Record<string, string>): Promise<GraphAnswer>;
  query(query: string, authorization?: string, variables?: Record<string, unknown>): Promise<GraphAnswer>;
  closeGraph(): Promise<void>;
  close(): Promise<void>;
}

export interface GraphAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
  body: any;
}

export const REQUEST_ID = '0192f0c1-0000-7000-8000-000000000001';

/** The library's graph behind Express and a WebSocket upgrade, on a port of its own. */
export async function startGraphServer(options: Partial<GraphOptions> = {}): Promise<GraphServer> {
  const log: string[] = [];
  const destination: DestinationStream = { write: (line) => log.push(line) };
  const schema = buildGraph([LibraryResolver]);
  const graph = await createGraph({
    schema,
    introspection: true,
    log: pino({ level: 'info' }, destination),
    now: () => new Date(),
    authenticate,
    createContext: (caller) => contextOf(caller, pino({ level: 'info' }, destination)),
    ...options,
  });
  const app = express();
  app.use((_request, response, next) => {
    response.setHeader('X-Request-Id', REQUEST_ID);
    next();
  });
  app.use('/graphql', graph.router);
  const server = createServer(app).listen(0, '127.0.0.1');
  server.on('upgrade', (request, socket, head) => graph.handleUpgrade(request, socket, head));
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;

  async function post(body: unknown, headers: Record<string, string> = {}): Promise<GraphAnswer> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  return {
    url,
    webSocketUrl: url.replace('http', 'ws'),
    schema,
    log,
    post,
    query: (query, authorization, variables) =>
      post({ query, variables }, authorization === undefined ? {} : { authorization }),
    closeGraph: graph.close,
    async close() {
      await graph.close();
      await closeServer(server);
    },
  };
}

const authenticate: GraphOptions['authenticate'] = async (request, instead = {}) => {
  const authorization = instead.authorization ?? request.headers.authorization;
  if (authorization === undefined) return {};
  const caller = callers[authorization];
  if (caller) return caller;
  if (authorization === 'Bearer expired') throw new AppError('TOKEN_EXPIRED', 'The token has expired');
  if (authorization === 'Bearer away') {
    throw new AppError('SERVICE_UNAVAILABLE', 'oidc is unavailable', {
      details: { service: 'oidc', retryAfter: 5 },
    });
  }
  throw new AppError('TOKEN_INVALID', 'The token is not good');
};

/** The library's fields ask for the caller and nothing else: one that reached for more would fail with a TypeError. */
function contextOf(caller: Caller, log: pino.Logger): RequestContext {
  return { requestId: REQUEST_ID, caller, log } as RequestContext;
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
