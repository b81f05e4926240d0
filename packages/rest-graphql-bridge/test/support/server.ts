import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import express from 'express';
import {
  type Bridge,
  type BridgeOptions,
  createBridge,
  type ErrorRenderer,
  type Failure,
} from '../../src/index.js';

/** Shows a failure on the wire as it is, so that a test sees all of it. */
export const showing: ErrorRenderer = {
  render(failure: Failure) {
    if (failure.kind === 'thrown')
      return { status: 500, body: { kind: 'thrown', message: messageOf(failure.error) } };
    if (failure.kind === 'graphql') {
      const errors = failure.errors.map(({ message, path, extensions }) => ({ message, path, extensions }));
      return { status: 502, body: { kind: 'graphql', errors } };
    }
    const status = STATUS[failure.kind];
    return { status, body: failure };
  },
};

const STATUS = {
  input: 400,
  'malformed-body': 400,
  'unsupported-media-type': 415,
  'body-too-large': 413,
  'not-found': 404,
  'method-not-allowed': 405,
  'upgrade-required': 426,
} as const;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export interface Running {
  readonly url: string;
  readonly port: number;
  readonly bridge: Bridge;
  readonly server: Server;
  /** Errors the bridge could tell nobody else. */
  readonly unexpected: unknown[];
  close(): Promise<void>;
}

/** A real Express server on a free port with the bridge in it. */
export async function serve<C>(
  options: Omit<BridgeOptions<C>, 'context'> & Partial<Pick<BridgeOptions<C>, 'context'>>,
): Promise<Running> {
  const unexpected: unknown[] = [];
  const bridge = createBridge({
    surfaces: [{ prefix: '/', errors: showing }],
    context: () => ({}) as C,
    onUnexpected: (error) => unexpected.push(error),
    ...options,
  });
  const app = express();
  app.use(bridge.middleware);
  const server = createServer(app);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    if (!bridge.handleUpgrade(request, socket, head)) socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    bridge,
    server,
    unexpected,
    async close() {
      await bridge.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends JSON and returns what came back. */
export async function call(
  url: string,
  method = 'GET',
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: unknown }> {
  const init: RequestInit = { method, headers };
  if (body !== undefined) {
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
    init.headers = { 'content-type': 'application/json', ...headers };
  }
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}
