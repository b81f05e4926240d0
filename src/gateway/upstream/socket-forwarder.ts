import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws';
import { invalidField } from '../../errors.js';
import { requestIdOf } from '../request-record.js';
import type { Forward, UpstreamTimeouts } from './forward.js';
import { joinSockets } from './join-sockets.js';
import { relayAnswer } from './relay-answer.js';
import { upstreamFailure } from './upstream-failure.js';

/** Of a client: as a request body. */
const MAX_FROM_CLIENT = 1_048_576;
const MAX_FROM_UPSTREAM = 16_777_216;

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

export interface SocketForwarder {
  /** Resolves once both sides are joined, or an upstream's refusal is passed on. @throws AppError 400, 502, 503, 504 */
  forward(forward: Forward, upgrade: Upgrade): Promise<void>;
  close(): void;
}

export function createSocketForwarder(timeouts: UpstreamTimeouts, log: Logger): SocketForwarder {
  const joined = new Set<() => void>();

  return {
    async forward(forward, upgrade) {
      if (upgrade.request.headers.upgrade?.toLowerCase() !== 'websocket') {
        throw invalidField('upgrade', 'isIn', 'Only websocket can be upgraded to');
      }
      const offered = protocolsOf(upgrade.request);
      const upstream = await connect(forward, upgrade, offered, timeouts);
      if (!upstream) return;
      const chosen = upstream.protocol === '' ? bearerOf(upgrade.request) : upstream.protocol;
      const server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        maxPayload: MAX_FROM_CLIENT,
        handleProtocols: () => chosen ?? false,
      });
      // Also covers a handshake that `ws` refuses: it destroys the socket and calls nobody.
      const gone = () => upstream.terminate();
      upgrade.socket.once('close', gone);
      server.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, (client) => {
        upgrade.socket.off('close', gone);
        const leave = joinSockets(client, upstream, timeouts.idle, log);
        joined.add(leave);
        client.once('close', () => joined.delete(leave));
      });
    },
    close() {
      for (const leave of joined) leave();
    },
  };
}

/**
 * The same path with ws in place of http (platform document, Routing). Undefined when the upstream answered with something
 * else than an upgrade, which is then passed on, or when the client is gone.
 */
function connect(
  { upstream, target, headers }: Forward,
  { request, socket }: Upgrade,
  protocols: readonly string[],
  { connect: connectMs, firstByte }: UpstreamTimeouts,
): Promise<WebSocket | undefined> {
  return new Promise((resolve, reject) => {
    const address = upstream.origin.replace(/^http/, 'ws') + target;
    const peer = open(address, protocols, { headers, handshakeTimeout: connectMs + firstByte });
    const gone = () => {
      peer.terminate();
      resolve(undefined);
    };
    socket.once('close', gone);
    const settled = () => void socket.off('close', gone);
    peer.once('open', () => {
      settled();
      peer.pause();
      resolve(peer);
    });
    peer.once('unexpected-response', (_sent, answer) => {
      settled();
      passOn(answer, request, socket).then(
        () => resolve(undefined),
        (error) => reject(upstreamFailure(upstream.service, error)),
      );
    });
    peer.on('error', (error) => {
      settled();
      reject(upstreamFailure(upstream.service, timedOut(error)));
    });
  });
}

/** @throws VALIDATION_ERROR for names that are none (RFC 6455 section 4.1) */
function open(address: string, protocols: readonly string[], options: ClientOptions): WebSocket {
  const limits = { perMessageDeflate: false, followRedirects: false, maxPayload: MAX_FROM_UPSTREAM };
  try {
    return new WebSocket(address, [...protocols], { ...options, ...limits });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidField('sec-websocket-protocol', 'isToken', 'The subprotocols are not valid');
  }
}

async function passOn(answer: IncomingMessage, request: IncomingMessage, socket: Duplex): Promise<void> {
  const response = new ServerResponse(request);
  response.assignSocket(socket as Socket);
  response.shouldKeepAlive = false;
  response.setHeader('X-Request-Id', requestIdOf(request));
  response.once('finish', () => socket.end());
  const { statusCode = 0, headers } = answer;
  try {
    await relayAnswer({ statusCode, headers, body: answer }, request, response);
  } catch (error) {
    if (response.headersSent) {
      socket.destroy();
      return;
    }
    response.detachSocket(socket as Socket);
    throw error;
  }
}

/** `ws` gives its timeout no code. */
function timedOut(error: Error): unknown {
  return error.message === 'Opening handshake has timed out' ? { code: 'ETIMEDOUT', cause: error } : error;
}

/** What the client offers, without the pair "bearer, <token>", whose token goes on as a header. */
function protocolsOf(request: IncomingMessage): string[] {
  const offered = offeredBy(request);
  return isBearerPair(offered) ? [] : offered;
}

function bearerOf(request: IncomingMessage): string | undefined {
  const offered = offeredBy(request);
  return isBearerPair(offered) ? offered[0] : undefined;
}

function isBearerPair(offered: readonly string[]): boolean {
  return offered.length === 2 && offered[0]?.toLowerCase() === 'bearer';
}

function offeredBy(request: IncomingMessage): string[] {
  const header = request.headers['sec-websocket-protocol'];
  return header === undefined ? [] : header.split(',').map((name) => name.trim());
}
