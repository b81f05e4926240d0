import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GraphQLSchema } from 'graphql';
import {
  type Admit,
  askForUpgrade,
  type ContextExtras,
  endpointFor,
  infoOf,
  jsonServer,
  type RouteInfo,
  sseServer,
} from './endpoint.js';
import type { StreamHost } from './event-source.js';
import { HttpDispatch } from './http-dispatch.js';
import { InputChecks, type ScalarConstraints } from './input-check.js';
import { OpenStreams } from './open-streams.js';
import { planTables } from './plan-table.js';
import type { OnUnexpected } from './respond.js';
import type { RouteTable, StreamLife } from './row.js';
import type { Around } from './serve-json.js';
import {
  makeWebSocketServer,
  type SelectProtocol,
  selectBearer,
  serveWebSocket,
} from './serve-web-socket.js';
import { SocketDispatch, type SocketEndpoint } from './socket-dispatch.js';
import type { Surface } from './surface.js';

export interface BridgeOptions<C> {
  readonly schema: GraphQLSchema;
  readonly tables: readonly RouteTable<C>[];
  /**
   * Asked first, and for every request the bridge answers: those that no row serves (404, 405, OPTIONS) too. What it
   * throws is rendered as `thrown`. For limits that count requests.
   */
  readonly admit?: Admit;
  /** Makes the GraphQL context of a request, before its body is read. What it throws is rendered as `thrown`. */
  readonly context: (request: IncomingMessage, access: unknown, extras: ContextExtras) => C | Promise<C>;
  /** Makes the context for one event of a stream from the one made at its start, e.g. with fresh caches. */
  readonly eventContext?: (context: C) => C | Promise<C>;
  /** How long a stream with this context may stay open, e.g. until its token runs out. Default: no limit. */
  readonly lifeOf?: (context: C) => StreamLife | undefined;
  /** Asked once for every JSON row: what stands around its operation, for example to answer a repeated request as before. */
  readonly around?: (route: RouteInfo) => Around<C> | undefined;
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
  const lifeOf = (options.lifeOf ?? (() => undefined)) as StreamHost['lifeOf'];
  const host: StreamHost = { streams: new OpenStreams(), tell, eventContext, lifeOf };
  const webSockets = makeWebSocketServer(options.selectProtocol ?? selectBearer);
  const http = new HttpDispatch(surfaces, options.context, options.admit, tell);
  const sockets = new SocketDispatch(options.context, options.admit, tell);
  for (const plan of planned) {
    const { row, segments, operation } = plan;
    const endpoint = endpointFor(plan, surfaces);
    if (row.kind === 'webSocket') {
      const serve: SocketEndpoint['serve'] = (upgrade, input) =>
        serveWebSocket(row, operation, host, webSockets, upgrade, input);
      sockets.add(segments, { ...endpoint, serve });
      http.add(segments, { ...endpoint, serve: askForUpgrade });
    } else {
      const around = options.around?.(endpoint.info) as Around<unknown> | undefined;
      const serve =
        row.kind === 'json'
          ? jsonServer(row, plan, checks, maxBodyBytes, around)
          : sseServer(row, plan, host);
      http.add(segments, { ...endpoint, serve });
    }
  }
  return {
    routes: planned.map(infoOf),
    middleware: (request, response, next) => http.handle(request, response, next),
    handleUpgrade: (request, socket, head) => sockets.handle({ request, socket, head }),
    close: () => host.streams.closeAll(),
  };
}
