import type { IncomingMessage } from 'node:http';
import type { Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { describeFailure } from '../describe-failure.js';
import { type CredentialOptions, closeFor, sentIn, watchCredential } from './ws-credential.js';
import type { Connection } from './ws-protocol.js';

export interface ConnectionOptions extends CredentialOptions {
  /** Milliseconds between pings; a peer that has not answered the one before is gone. */
  keepAliveMs: number;
  /** Unsent bytes at which a client is too slow and is dropped; it may come back and resume. */
  maxBufferedBytes: number;
}

/**
 * Ties one socket to the protocol: credential, keep-alive, slow clients, and the end of everything with the socket.
 * @returns when the socket is closed and the sources of its subscriptions have ended.
 */
export function serveConnection(
  protocol: Server<Connection>,
  socket: WebSocket,
  request: IncomingMessage,
  options: ConnectionOptions,
): Promise<void> {
  const stops = [keepAlive(socket, options.keepAliveMs)];
  const connection: Connection = {
    request,
    caller: {},
    async admit(params) {
      const authenticate = () => options.authenticate(request, sentIn(params));
      try {
        connection.caller = await authenticate();
      } catch (error) {
        closeFor(socket, describeFailure(error));
        return false;
      }
      const isOpen = socket.readyState === socket.OPEN;
      const { itsm, platform } = connection.caller;
      if (isOpen && (itsm || platform))
        stops.push(watchCredential(socket, connection.caller, { ...options, authenticate }));
      return isOpen;
    },
  };
  const ended = protocol.opened(
    {
      protocol: socket.protocol,
      send: (data) => send(socket, data, options),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (receive) => listen(socket, receive, options),
    },
    connection,
  );
  socket.on('error', (error) => options.log.debug({ err: error }, 'A GraphQL WebSocket broke'));
  return new Promise((resolve) => {
    socket.once('close', (code, reason) => {
      for (const stop of stops) stop();
      ended(code, String(reason))
        .catch((error: unknown) => {
          options.log.error({ err: error }, 'A GraphQL subscription did not end cleanly');
        })
        .finally(resolve);
    });
  });
}

function listen(
  socket: WebSocket,
  receive: (message: string) => Promise<void>,
  { log }: Pick<ConnectionOptions, 'log'>,
): void {
  socket.on('message', (data) => {
    receive(String(data)).catch((error: unknown) => {
      log.error({ err: error }, 'A GraphQL WebSocket message failed');
      socket.close(4500, 'Internal server error');
    });
  });
}

/** Resolves when the bytes left for the kernel, so that a subscription never runs ahead of its client. */
function send(
  socket: WebSocket,
  data: string,
  { maxBufferedBytes, log }: Pick<ConnectionOptions, 'maxBufferedBytes' | 'log'>,
): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve();
    if (socket.bufferedAmount > maxBufferedBytes) {
      log.info({ bufferedBytes: socket.bufferedAmount }, 'A slow GraphQL WebSocket was dropped');
      socket.terminate();
      return resolve();
    }
    // A socket that breaks while sending tells its 'close' listener, which ends the subscriptions.
    socket.send(data, () => resolve());
  });
}

function keepAlive(socket: WebSocket, intervalMs: number): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, intervalMs);
  return () => clearInterval(timer);
}
