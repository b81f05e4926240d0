import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { type Client, createClient } from 'graphql-ws';
import { createBridge } from 'rest-graphql-bridge';
import { WebSocket } from 'ws';
import { parseConfig } from '../../src/config.js';
import { asSystem, type Caller, createContext, type Services } from '../../src/context.js';
import { createOrm } from '../../src/database/orm.js';
import { DEMO_PASSWORD, type DemoLogin, type DemoSlug } from '../../src/domain/identity/demo-tenants.js';
import { createItsmTokens, login } from '../../src/domain/identity/index.js';
import { type DemoTenant, seedDemo } from '../../src/domain/identity/seed-demo.js';
import { Event } from '../../src/entities/events/event.js';
import { newId } from '../../src/entities/ids.js';
import { REQUEST_ROLE } from '../../src/entities/row-security.js';
import { createEventFeed, type OpenEventFeed } from '../../src/events/event-feed.js';
import { createSequencer } from '../../src/events/sequencer.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';
import { buildGraph } from '../../src/graph/build-schema.js';
import { createGraph } from '../../src/graph/create-graph.js';
import { TicketResolver } from '../../src/resolvers/tickets/ticket.resolver.js';
import { createItsmErrors } from '../../src/rest/envelopes/itsm-errors.js';
import { ticketRoutes } from '../../src/rest/tickets/tickets.routes.js';
import { createSecretBox } from '../../src/secret-box.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runLog } from '../support/run-log.js';

/** Who asks, as `login@organization`; undefined asks without a token. */
export type Who = `${DemoLogin}@${DemoSlug}` | undefined;

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
  body: any;
}

export interface TicketEvent {
  seq: number;
  type: string;
  payload: Record<string, unknown>;
}

export interface EventStream {
  /** The next `count` events; rejects with the errors of a refusal. */
  take(count: number): Promise<TicketEvent[]>;
  /** Leaves the socket open and ends the subscription. */
  stop(): Promise<void>;
}

export interface TicketServer {
  database: TestDatabase;
  tenants: Record<DemoSlug, DemoTenant>;
  feed: OpenEventFeed;
  rest(who: Who, method: string, path: string, body?: unknown): Promise<Answer>;
  graphql(who: Who, query: string, variables?: Record<string, unknown>): Promise<Answer>;
  /** ticketEvents over graphql-ws. */
  follow(who: Who, args?: { after?: number; types?: string[] }): Promise<EventStream>;
  /** What the log says of a ticket, in the order it happened. */
  eventsOf(ticketId: string): Promise<Event[]>;
  close(): Promise<void>;
}

/** The tickets of both demo organizations over REST and GraphQL, on real parts and a database of its own. */
export async function startTicketServer(): Promise<TicketServer> {
  const database = await createTestDatabase();
  const { url: databaseUrl, orm } = database;
  const tenantOrm = await createOrm({ databaseUrl, poolSize: 8, role: REQUEST_ROLE });
  const log = runLog();
  const config = parseConfig({ OPSGRAPH_SECRET_KEY: '7d'.repeat(32), DATABASE_URL: databaseUrl }, '/nowhere');
  const wake = createWakeChannel({ databaseUrl, log });
  const sequencer = createSequencer({ databaseUrl, wake, log });
  const feed = await createEventFeed({ orm, wake, log });
  await Promise.all([wake.connected(), sequencer.connected()]);
  const needed = {
    config,
    log,
    orm,
    tenantOrm,
    wake,
    events: feed,
    secrets: createSecretBox(config),
    now: () => new Date(),
  };
  const itsmTokens = createItsmTokens(needed);
  // Tickets ask for nothing else of the process: a test that reaches for more fails with a TypeError.
  const services = { ...needed, itsmTokens } as unknown as Services;
  const tenants = await seedDemo(services);
  const tokens = new Map<string, string>();

  async function tokenOf(who: NonNullable<Who>): Promise<string> {
    const known = tokens.get(who);
    if (known) return known;
    const anonymous = asSystem(createContext(services, newId('req'), {}));
    const answer = await login(anonymous, { email: `${who}.test`, password: DEMO_PASSWORD });
    if (!('accessToken' in answer)) throw new Error(`${who} has a second factor`);
    tokens.set(who, answer.accessToken);
    return answer.accessToken;
  }

  const listening = await listen(services);
  const clients: Client[] = [];

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
      const client = createClient({
        url: `${listening.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization },
        lazy: false,
        retryAttempts: 0,
        onNonLazyError: () => undefined,
      });
      clients.push(client);
      return followOver(client, args);
    },
    eventsOf: (ticketId) =>
      orm.em.fork().find(Event, { subjectId: ticketId }, { orderBy: { position: 'asc' }, filters: false }),
    async close() {
      await Promise.all(clients.map((client) => client.dispose()));
      await listening.close();
      await feed.close();
      await sequencer.close();
      await itsmTokens.close();
      await wake.close();
      await tenantOrm.close(true);
      await database.close();
    },
  };
}

async function listen(services: Services): Promise<{ url: string; close(): Promise<void> }> {
  const { log, now } = services;
  const schema = buildGraph([TicketResolver]);
  const authenticate = async (authorization: string | undefined): Promise<Caller> => {
    const token = authorization?.replace(/^Bearer /, '');
    return token === undefined ? {} : { itsm: await services.itsmTokens.verify(token) };
  };
  const contextOf = (caller: Caller) => createContext(services, newId('req'), caller);
  const errors = createItsmErrors({
    requestId: () => 'req_test',
    path: (request) => request.url?.split('?')[0] ?? '/',
    now,
  });
  const bridge = createBridge({
    schema,
    tables: [ticketRoutes],
    context: async ({ headers }) => contextOf(await authenticate(headers.authorization)),
    surfaces: [{ prefix: '/v1', errors }],
  });
  const graph = await createGraph({
    schema,
    introspection: true,
    log,
    now,
    authenticate: (request, instead) => authenticate(instead?.authorization ?? request.headers.authorization),
    createContext: contextOf,
  });
  const server = createServer(express().use('/graphql', graph.router).use(bridge.middleware));
  server.on('upgrade', graph.handleUpgrade);
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

const TICKET_EVENTS = `
  subscription ($after: SafeInt, $types: [String!]) {
    ticketEvents(after: $after, types: $types) { seq type payload }
  }
`;

function followOver(client: Client, variables: { after?: number; types?: string[] }): EventStream {
  const results = client.iterate<{ ticketEvents: TicketEvent }>({ query: TICKET_EVENTS, variables });
  return {
    async take(count) {
      const events: TicketEvent[] = [];
      while (events.length < count) {
        const { done, value } = await results.next();
        if (done) throw new Error(`ended after ${events.length} of ${count} events`);
        if (value.errors) throw Object.assign(new Error(value.errors[0]?.message), value.errors[0]);
        if (value.data) events.push(value.data.ticketEvents);
      }
      return events;
    },
    async stop() {
      await results.return?.();
    },
  };
}
