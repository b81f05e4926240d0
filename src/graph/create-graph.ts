import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Caller, RequestContext } from '../context.js';
import { createGraphHttp } from './apollo.js';
import { createExecutor } from './executor.js';
import { createGraphWebSocket, type GraphWebSocketOptions } from './websocket.js';
import type { SentInConnection } from './ws-credential.js';

export interface GraphOptions {
  schema: GraphQLSchema;
  introspection: boolean;
  log: Logger;
  now(): Date;
  /**
   * Who sent a request, over either transport.
   * @param instead what connection_init of a WebSocket brought, which goes before the headers of the upgrade
   * @throws AppError
   */
  authenticate(request: IncomingMessage, instead?: SentInConnection): Promise<Caller>;
  /**
   * Asked for every HTTP request before anything of it is read, and for every operation of a WebSocket, where there is
   * no response and the caller is known. For limits that count requests.
   * @throws AppError
   */
  admit?(request: IncomingMessage, response: ServerResponse | undefined, caller?: Caller): unknown;
  /** A context per HTTP request, per WebSocket operation and per event; the last two have no response. */
  createContext(
    caller: Caller,
    request: IncomingMessage,
    response?: ServerResponse,
  ): RequestContext | Promise<RequestContext>;
  webSocketLimits?: GraphWebSocketOptions['limits'];
}

export interface Graph {
  /** POST at the mount point; other methods fall through. */
  router: Router;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
}

/** The graph on its own two transports; REST rows run on the same schema through the bridge. */
export async function createGraph(options: GraphOptions): Promise<Graph> {
  const { schema, introspection, log, now, authenticate, admit, createContext } = options;
  const executor = createExecutor(schema);
  const http = await createGraphHttp({
    schema,
    executor,
    introspection,
    log,
    admit: (request, response) => admit?.(request, response),
    createContext: async (request, response) => createContext(await authenticate(request), request, response),
  });
  const webSocket = createGraphWebSocket({
    schema,
    executor,
    introspection,
    log,
    now,
    authenticate,
    admit: (request, caller) => admit?.(request, undefined, caller),
    createContext: (caller, request) => createContext(caller, request),
    limits: options.webSocketLimits,
  });
  return {
    router: http.router,
    handleUpgrade: webSocket.handleUpgrade,
    async close() {
      await webSocket.close();
      await http.close();
    },
  };
}
