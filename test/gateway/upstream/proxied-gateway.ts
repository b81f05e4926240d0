import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  ServerResponse,
  request as sendRequest,
} from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import type { PlatformRole } from '../../../src/context.js';
import { AppError } from '../../../src/errors.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { pathOf } from '../../../src/gateway/surface.js';
import { createUpstreamProxy } from '../../../src/gateway/upstream/create-upstream-proxy.js';
import type { UpstreamTimeouts } from '../../../src/gateway/upstream/forward.js';
import { parseUpstreams } from '../../../src/gateway/upstream/parse-upstreams.js';
import { createTemplateOf } from '../../../src/gateway/upstream/route-templates.js';
import { createPlatformErrors } from '../../../src/rest/envelopes/platform-errors.js';
import { captureLog } from '../gateway-server.js';

const ROLES: Readonly<Record<string, PlatformRole>> = {
  'Bearer viewer': 'VIEWER',
  'Bearer engineer': 'ENGINEER',
  'Bearer admin': 'ADMIN',
};

export const viewer = { authorization: 'Bearer viewer' };
export const engineer = { authorization: 'Bearer engineer' };
export const admin = { authorization: 'Bearer admin' };

const BEARER_PAIR = /^bearer, ?(\w+)$/;

function authorizationOf({ headers }: IncomingMessage): string | undefined {
  const token = BEARER_PAIR.exec(headers['sec-websocket-protocol'] ?? '')?.[1];
  return headers.authorization ?? (token === undefined ? undefined : `Bearer ${token}`);
}

export interface ProxiedGateway {
  url: string;
  lines: Record<string, unknown>[];
  /** Templates that were counted, in order. */
  counted: string[];
  close(): Promise<void>;
}

/** The gateway with nothing behind it but upstreams, on a free port; a token is the name of a role. */
export async function startProxiedGateway(
  upstreams: Record<string, string>,
  timeouts: Partial<UpstreamTimeouts> = {},
): Promise<ProxiedGateway> {
  const { log, lines } = captureLog();
  const counted: string[] = [];
  const errors = createPlatformErrors({ path: pathOf, now: () => new Date() });
  const proxy = createUpstreamProxy({
    upstreams: parseUpstreams(JSON.stringify(upstreams)),
    templateOf: createTemplateOf(['/api/v1/runs/:runId', '/api/v1/copilot/suggest']),
    timeouts: { connect: 2_000, firstByte: 5_000, idle: 5_000, ...timeouts },
    log,
    admit: (_request, template) => void counted.push(template),
    authenticate: async (request) => {
      const authorization = authorizationOf(request);
      if (authorization === undefined)
        throw new AppError('AUTHENTICATION_ERROR', 'Authentication is required');
      const role = ROLES[authorization];
      if (!role) throw new AppError('TOKEN_INVALID', 'The token is not valid');
      return {
        platform: {
          issuer: 'embedded',
          subject: 'sub-zażółć',
          email: 'jan@example.com',
          roles: [role, 'VIEWER'],
          workspaceId: '01a1fb3c-6ba4-7748-a964-b27f88c25ee9',
          workspaceSlug: 'main',
          organizationId: 'org_1',
        },
      };
    },
    authorizationOf,
    addressOf: () => '192.0.2.7',
  });
  const gateway = createGateway({
    log,
    readiness: { stage: 'ready' },
    surfaces: [{ prefix: '/', errors }],
    mount: (app) => void app.use(proxy.middleware),
  });
  const server = createServer(gateway.app);
  server.on('upgrade', (request, socket: Socket, head) => {
    socket.on('error', () => undefined);
    const served = proxy.handleUpgrade(request, socket, head, (error) => {
      const response = new ServerResponse(request);
      response.assignSocket(socket);
      response.once('finish', () => socket.end());
      gateway.failures.send({ kind: 'thrown', error }, request, response);
    });
    if (!served) socket.destroy();
  });
  const url = await listening(server);
  return {
    url,
    lines,
    counted,
    async close() {
      await proxy.close();
      gateway.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listening(server: Server | TcpServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Upstream {
  url: string;
  server: Server;
  close(): Promise<void>;
}

export async function startUpstream(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Upstream> {
  const server = createServer(answer);
  const url = await listening(server);
  return {
    url,
    server,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A server that does with each connection what HTTP does not allow. */
export async function startTcp(
  connected: (socket: Socket) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    connected(socket);
  });
  const url = await listening(server);
  return {
    url,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The address of a port that was free a moment ago. */
export async function refusingUrl(): Promise<string> {
  const { url, close } = await startTcp(() => undefined);
  await close();
  return url;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** fetch refuses to send or show some headers; this sends and shows all. */
export async function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<RawAnswer> {
  const request = sendRequest(url, { method: options.method ?? 'GET', headers: options.headers ?? {} });
  request.end(options.body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
