import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GraphQLSchema } from 'graphql';
import {
  type Endpoint,
  endpointFor,
  type HttpEndpoint,
  infoOf,
  jsonServer,
  type RouteInfo,
  sseServer,
} from './endpoint.js';
import type { StreamHost } from './event-source.js';
import { type ErrorRenderer, failureOf, type InputProblem } from './failure.js';
import { InputChecks, type ScalarConstraints } from './input-check.js';
import { OpenStreams } from './open-streams.js';
import { PathTrie } from './path-trie.js';
import { planTables } from './plan-table.js';
import { refuseProblems } from './request-parameters.js';
import { type OnUnexpected, send, sendFailure, sendFailureOnSocket } from './respond.js';
import type { RouteTable, RowInput, WebSocketRow } from './row.js';
import {
  makeWebSocketServer,
  type SelectProtocol,
  selectBearer,
  serveWebSocket,
} from './serve-web-socket.js';
import { type Surface, surfaceOf } from './surface.js';

export interface ContextExtras {
  readonly route: RouteInfo;
  /** For setting response headers; undefined for a WebSocket. */
  readonly response: ServerResponse | undefined;
}

export interface BridgeOptions<C> {
  readonly schema: GraphQLSchema;
  readonly tables: readonly RouteTable<C>[];
  /** Makes the GraphQL context of a request, before its body is read. What it throws is rendered as `thrown`. */
  readonly context: (request: IncomingMessage, access: unknown, extras: ContextExtras) => C | Promise<C>;
  /** Makes the context for one event of a stream from the one made at its start, e.g. with fresh caches. */
  readonly eventContext?: (context: C) => C | Promise<C>;
  /** Error languages by path prefix. A path that no surface covers and no row serves goes to `next()`. */
  readonly surfaces?: readonly Surface[];
  /** Bound on a request body. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Constraint names for values that a custom scalar's parser refused. */
  readonly scalarConstraints?: ScalarConstraints;
  /** Chooses a WebSocket's subprotocol. Default: "bearer" when offered. */
  readonly selectProtocol?: SelectProtocol;
  readonly onUnexpected?: OnUnexpected;
}

export interface Bridge {
  /** For `app.use` of Express 5; it needs nothing of Express beyond Node's request and response. */
  readonly middleware: (
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ) => void;
  /** For the server's 'upgrade' event. False, with nothing done, when the path is no WebSocket row. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  readonly routes: readonly RouteInfo[];
  /** Ends every stream and WebSocket; resolves when their connections are gone, after a second at most. */
  close(): Promise<void>;
}

interface Place {
  readonly methods: { [method: string]: HttpEndpoint | undefined };
  allow: string;
  readonly errors: ErrorRenderer;
}

interface SocketEndpoint extends Endpoint {
  readonly row: WebSocketRow<never>;
  readonly serve: (
    upgrade: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
    input: RowInput<unknown>,
  ) => Promise<void>;
}

const MIB = 1_048_576;

/**
 * Compiles tables of rows into a middleware and an upgrade handler.
 * @throws Error listing every unusable row as `file: METHOD /path: reason`.
 */
export function createBridge<C>(options: BridgeOptions<C>): Bridge {
  const { surfaces = [], schema, maxBodyBytes = MIB } = options;
  const tell: OnUnexpected = options.onUnexpected ?? (() => undefined);
  const planned = planTables(schema, options.tables);
  const checks = new InputChecks(options.scalarConstraints ?? {});
  const eventContext = (options.eventContext ?? ((context) => context)) as StreamHost['eventContext'];
  const host: StreamHost = { streams: new OpenStreams(), tell, eventContext };
  const webSockets = makeWebSocketServer(options.selectProtocol ?? selectBearer);
  const http = new PathTrie<Place>();
  const sockets = new PathTrie<SocketEndpoint>();

  for (const plan of planned) {
    const { row, segments, operation } = plan;
    const endpoint = endpointFor(plan, surfaces);
    if (row.kind === 'webSocket') {
      const serve: SocketEndpoint['serve'] = (upgrade, input) =>
        serveWebSocket(row, operation, host, webSockets, upgrade, input);
      sockets.place(segments, () => ({ ...endpoint, row, serve }));
      continue;
    }
    const serve =
      row.kind === 'json' ? jsonServer(row, plan, checks, maxBodyBytes) : sseServer(row, plan, host);
    addMethod(
      http.place(segments, () => ({ methods: {}, allow: '', errors: endpoint.errors })),
      { ...endpoint, serve },
    );
  }

  /** The context is made first: who may not ask is not told what was wrong with the question. */
  async function inputOf(
    endpoint: Endpoint,
    request: IncomingMessage,
    response: ServerResponse | undefined,
    captured: readonly string[],
    problems: InputProblem[],
  ) {
    const making = options.context(request, endpoint.info.access, { route: endpoint.info, response });
    const context: unknown = making instanceof Promise ? await making : making;
    return endpoint.parameters.read(request, captured, searchOf(request), context, problems);
  }

  async function answer(
    endpoint: HttpEndpoint,
    request: IncomingMessage,
    response: ServerResponse,
    captured: readonly string[],
  ): Promise<void> {
    try {
      const problems: InputProblem[] = [];
      const input = await inputOf(endpoint, request, response, captured, problems);
      await endpoint.serve(request, response, input, problems);
    } catch (error) {
      sendFailure(request, response, failureOf(error), endpoint.errors, tell);
    }
  }

  async function upgrade(
    endpoint: SocketEndpoint,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    captured: readonly string[],
  ): Promise<void> {
    try {
      const problems: InputProblem[] = [];
      const input = await inputOf(endpoint, request, undefined, captured, problems);
      refuseProblems(problems);
      await endpoint.serve({ request, socket, head }, input);
    } catch (error) {
      sendFailureOnSocket(request, socket, failureOf(error), endpoint.errors, tell);
    }
  }

  return {
    routes: planned.map(infoOf),
    middleware(request, response, next) {
      const path = pathOf(request);
      const match = http.find(path);
      if (!match) {
        const surface = surfaceOf(surfaces, path);
        if (surface) sendFailure(request, response, { kind: 'not-found' }, surface.errors, tell);
        else next();
        return;
      }
      const { methods, allow, errors } = match.value;
      const method = request.method ?? 'GET';
      const endpoint = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (endpoint) void answer(endpoint, request, response, match.captured);
      else if (method === 'OPTIONS') send(request, response, 204, { allow }, undefined);
      else sendFailure(request, response, { kind: 'method-not-allowed', allow }, errors, tell);
    },
    handleUpgrade(request, socket, head) {
      const match = sockets.find(pathOf(request));
      if (!match) return false;
      // Until `ws` takes the socket over nobody else listens, and an unheard 'error' ends the process.
      socket.on('error', () => socket.destroy());
      void upgrade(match.value, request, socket, head, match.captured);
      return true;
    },
    close: () => host.streams.closeAll(),
  };
}

function addMethod(place: Place, endpoint: HttpEndpoint): void {
  const { method, kind } = endpoint.info;
  place.methods[method] = endpoint;
  // A stream has no HEAD: its headers are only known to be 200 once it is open.
  if (method === 'GET' && kind === 'json') place.methods.HEAD = endpoint;
  place.allow = [...Object.keys(place.methods), 'OPTIONS'].sort().join(', ');
}

/** Express strips a mount point from `url`; the rows' paths are whole. */
function urlOf(request: IncomingMessage): string {
  return (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/';
}

function pathOf(request: IncomingMessage): string {
  const url = urlOf(request);
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

function searchOf(request: IncomingMessage): string {
  const url = urlOf(request);
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}
