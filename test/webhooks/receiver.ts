import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KeyPair } from './certificate-authority.js';

export interface Arrival {
  path: string;
  headers: IncomingHttpHeaders;
  /** As it came. */
  body: Buffer;
  /** Milliseconds of performance.now(). */
  at: number;
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export interface Receiver {
  /** https://localhost:<port> */
  readonly url: string;
  /** `localhost:<port>`, for WEBHOOK_ALLOWED_HOSTS. */
  readonly host: string;
  /** Whole POSTs, in the order they came. */
  readonly arrivals: Arrival[];
  at(path: string): Arrival[];
  /** Connections that are open now. */
  connections(): number;
  /** What a path answers from now on; 200 without it. */
  answer(path: string, answer: Answer): void;
  onArrival(listener: (arrival: Arrival) => void): void;
  close(): Promise<void>;
}

/** An HTTPS server on loopback that keeps what it was sent. */
export async function startReceiver(pair: KeyPair, keeps = true): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const answers = new Map<string, Answer>();
  const listeners: ((arrival: Arrival) => void)[] = [];
  const server = createServer({ ...pair, keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const arrival = { path, headers: request.headers, body: Buffer.concat(chunks), at: performance.now() };
      if (keeps) arrivals.push(arrival);
      for (const listener of listeners) listener(arrival);
      const answer = answers.get(path);
      if (answer) answer(response, request);
      else response.writeHead(200).end();
    });
  });
  let connections = 0;
  server.on('secureConnection', (socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      connections -= 1;
    });
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  return {
    url: `https://${host}`,
    host,
    arrivals,
    at: (path) => arrivals.filter((arrival) => arrival.path === path),
    connections: () => connections,
    answer: (path, answer) => void answers.set(path, answer),
    onArrival: (listener) => void listeners.push(listener),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
