import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import type { Pool } from 'pg';
import type { Services } from '../context.js';
import { createGateway } from '../gateway/create-gateway.js';
import type { ErrorSurface, GatewayFailure } from '../gateway/error-handler.js';
import type { Readiness } from '../gateway/health.js';
import { answerUnparsable } from '../gateway/unparsable-requests.js';
import type { OnClose } from './on-close.js';
import { openRoutes } from './open-routes.js';

interface ServingOptions {
  services: Services;
  pool: Pool;
  server: Server;
  surfaces: readonly ErrorSurface[];
  readiness: Readiness;
  /** http://host:port as this node is reached. */
  url: string;
  onClose: OnClose;
}

/** Everything between the server and the graph; a worker answers for its health and its metrics only. */
export async function serveRequests(options: ServingOptions): Promise<Express> {
  const { services, pool, server, surfaces, readiness, url, onClose } = options;
  const { config, log } = services;
  const routes = config.role === 'worker' ? undefined : await openRoutes(services, url, surfaces, onClose);
  const gateway = createGateway({
    log,
    readiness,
    surfaces,
    mount: (app) => routes?.mount(app),
    databasePool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  });
  onClose('gateway', () => gateway.close());
  answerUnparsable(server, gateway.failures);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', (error) => log.debug({ err: error }, 'socket failed while it was upgraded'));
    const refuse = (failure: GatewayFailure) => {
      const response = new ServerResponse(request);
      response.assignSocket(socket as Socket);
      response.once('finish', () => socket.end());
      gateway.failures.send(failure, request, response);
    };
    const served = routes?.upgrade(request, socket, head, (error) => refuse({ kind: 'thrown', error }));
    if (!served) refuse({ kind: 'not-found' });
  });
  return gateway.app;
}
