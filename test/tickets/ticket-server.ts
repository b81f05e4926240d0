import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createSourceEventStream, type GraphQLSchema, parse } from 'graphql';
import { pino } from 'pino';
import { createBridge } from 'rest-graphql-bridge';
import { parseConfig } from '../../src/config.js';
import { createContext, type RequestContext, type Services } from '../../src/context.js';
import { DEMO_PASSWORD, type DemoLogin, type DemoSlug } from '../../src/domain/identity/demo-tenants.js';
import { createItsmTokens, login } from '../../src/domain/identity/index.js';
import { type DemoTenant, seedDemo } from '../../src/domain/identity/seed-demo.js';
import { Event } from '../../src/entities/events/event.js';
import { newId } from '../../src/entities/ids.js';
import { createEventFeed, type OpenEventFeed } from '../../src/events/event-feed.js';
import { createSequencer } from '../../src/events/sequencer.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';
import { createGraphHttp } from '../../src/graph/apollo.js';
import { buildGraph } from '../../src/graph/build-schema.js';
import { createExecutor } from '../../src/graph/executor.js';
import { TicketResolver } from '../../src/resolvers/tickets/ticket.resolver.js';
import { createItsmErrors } from '../../src/rest/envelopes/itsm-errors.js';
import { ticketRoutes } from '../../src/rest/tickets/tickets.routes.js';
import { createSecretBox } from '../../src/secret-box.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

/** Who asks, as `login@organization`; undefined asks without a token. */
export type Who = `${DemoLogin}@${DemoSlug}` | undefined;

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
  body: any;
}

export interface TicketServer {
  database: TestDatabase;
  tenants: Record<DemoSlug, DemoTenant>;
  feed: OpenEventFeed;
  rest(who: Who, method: string, path: string, body?: unknown): Promise<Answer>;
  graphql(who: Who, query: string, variables?: Record<string, unknown>): Promise<Answer>;
  /** The source of the subscription, as graphql-ws opens it. */
  follow(who: Who, args?: { after?: number; types?: string[] }): Promise<AsyncIterableIterator<Event>>;
  /** What the log says of a ticket, in the order it happened. */
  eventsOf(ticketId: string): Promise<Event[]>;
  close(): Promise<void>;
}

/** The tickets of both demo organizations over REST and GraphQL, on real parts and a database of its own. */
export async function startTicketServer(): Promise<TicketServer> {
  const database = await createTestDatabase();
  const { url: databaseUrl, orm } = database;
  const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
  const config = parseConfig({ OPSGRAPH_SECRET_KEY: '7d'.repeat(32), DATABASE_URL: databaseUrl }, '/nowhere');
  const wake = createWakeChannel({ databaseUrl, log });
  const sequencer = createSequencer({ databaseUrl, wake, log });
  const feed = await createEventFeed({ orm, wake, log });
  await Promise.all([wake.connected(), sequencer.connected()]);
  const needed = {
    config,
    log,
    orm,
    wake,
    events: feed,
    secrets: createSecretBox(config),
    now: () => new Date(),
  };
  const itsmTokens = createItsmTokens(needed);
  // Tickets ask for nothing else of the process: a test that reaches for more fails with a TypeError.
  const services = { ...needed, itsmTokens } as unknown as Services;
  const tenants = await seedDemo(services);
  const contextFrom = contextFactory(services);
  const tokens = new Map<string, string>();

  async function tokenOf(who: NonNullable<Who>): Promise<string> {
    const known = tokens.get(who);
    if (known) return known;
    const anonymous = createContext(services, newId('req'), {});
    const { accessToken } = await login(anonymous, { email: `${who}.test`, password: DEMO_PASSWORD });
    tokens.set(who, accessToken);
    return accessToken;
  }

  const schema = buildGraph([TicketResolver]);
  const listening = await listen(schema, services, contextFrom);

  async function send(who: Who, method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = new Headers();
    if (who) headers.set('authorization', `Bearer ${await tokenOf(who)}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await fetch(`${listening.url}${path}`, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  }

  return {
    database,
    tenants,
    feed,
    rest: send,
    graphql: (who, query, variables = {}) => send(who, 'POST', '/graphql', { query, variables }),
    async follow(who, args = {}) {
      const authorization = who && `Bearer ${await tokenOf(who)}`;
      return openSubscription(schema, await contextFrom(authorization), args);
    },
    eventsOf: (ticketId) =>
      orm.em.fork().find(Event, { subjectId: ticketId }, { orderBy: { position: 'asc' }, filters: false }),
    async close() {
      await listening.close();
      await feed.close();
      await sequencer.close();
      await itsmTokens.close();
      await wake.close();
      await database.close();
    },
  };
}

type ContextFactory = (authorization: string | undefined) => Promise<RequestContext>;

function contextFactory(services: Services): ContextFactory {
  return async (authorization) => {
    const token = authorization?.replace(/^Bearer /, '');
    const caller = token === undefined ? {} : { itsm: await services.itsmTokens.verify(token) };
    return createContext(services, newId('req'), caller);
  };
}

async function listen(
  schema: GraphQLSchema,
  services: Services,
  contextFrom: ContextFactory,
): Promise<{ url: string; close(): Promise<void> }> {
  const context = (request: IncomingMessage) => contextFrom(request.headers.authorization);
  const errors = createItsmErrors({
    requestId: () => 'req_test',
    path: (request) => request.url?.split('?')[0] ?? '/',
    now: services.now,
  });
  const bridge = createBridge({
    schema,
    tables: [ticketRoutes],
    context,
    surfaces: [{ prefix: '/v1', errors }],
  });
  const graph = await createGraphHttp({
    schema,
    executor: createExecutor(schema),
    introspection: true,
    log: services.log,
    createContext: context,
  });
  const server = createServer(express().use('/graphql', graph.router).use(bridge.middleware));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      await bridge.close();
      await graph.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const TICKET_EVENTS = parse(`
  subscription ($after: SafeInt, $types: [String!]) {
    ticketEvents(after: $after, types: $types) { seq type payload }
  }
`);

async function openSubscription(
  schema: GraphQLSchema,
  contextValue: RequestContext,
  variableValues: { after?: number; types?: string[] },
): Promise<AsyncIterableIterator<Event>> {
  const opened = await createSourceEventStream({
    schema,
    document: TICKET_EVENTS,
    contextValue,
    variableValues,
  });
  if (Symbol.asyncIterator in opened) return opened as AsyncIterableIterator<Event>;
  throw opened.errors?.[0]?.originalError ?? new Error('The subscription was refused without a reason');
}
