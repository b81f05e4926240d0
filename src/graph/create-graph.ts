import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Request, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Caller, RequestContext } from '../context.js';
import { createGraphHttp } from './apollo.js';
import { createExecutor } from './executor.js';
import { createGraphWebSocket, type GraphWebSocketOptions } from './websocket.js';

export interface GraphOptions {
  schema: GraphQLSchema;
  introspection: boolean;
  log: Logger;
  now(): Date;
  /**
   * Who sent an Authorization header's value, over either transport.
   * @throws AppError
   */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** A context per HTTP request (which is then given), per WebSocket operation and per event. */
  createContext(caller: Caller, request?: Request): RequestContext;
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
  const { schema, introspection, log, now, authenticate, createContext } = options;
  const executor = createExecutor(schema);
  const http = await createGraphHttp({
    schema,
    executor,
    introspection,
    log,
    createContext: async (request) =>
      createContext(await authenticate(request.headers.authorization), request),
  });
  const webSocket = createGraphWebSocket({
    schema,
    executor,
    introspection,
    log,
    now,
    authenticate,
    createContext: (caller) => createContext(caller),
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
