import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import { type ConnectionOptions, serveConnection } from './ws-connection.js';
import { createProtocol, type ProtocolOptions } from './ws-protocol.js';

export interface GraphWebSocketOptions
  extends ProtocolOptions,
    Pick<ConnectionOptions, 'now' | 'authenticate'> {
  limits?: Partial<Pick<ConnectionOptions, 'keepAliveMs' | 'recheckMs' | 'maxBufferedBytes'>>;
}

export interface GraphWebSocket {
  /** For requests that the upgrade router found to be this path's. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Says goodbye to every client and waits until the last subscription has ended. */
  close(): Promise<void>;
}

const defaults = {
  /** Below the 60 s after which common proxies cut a silent connection. */
  keepAliveMs: 12_000,
  /** How long a revoked session may go on reading. */
  recheckMs: 30_000,
  /** 1 MiB: some 2,000 ticket events. */
  maxBufferedBytes: 1_048_576,
};
/** Bytes of one message, as for a request body. */
const MAX_MESSAGE_BYTES = 1_048_576;
/** A client that does not answer a close frame is cut off after this long. */
const GOODBYE_MS = 1_000;

/** GraphQL over WebSocket (graphql-transport-ws). Close it before the HTTP side, whose executor it uses. */
export function createGraphWebSocket(options: GraphWebSocketOptions): GraphWebSocket {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, handleProtocols });
  const protocol = createProtocol(options);
  const connection: ConnectionOptions = { ...defaults, ...options.limits, ...options };

  const served = new Set<Promise<void>>();

  return {
    handleUpgrade(request, socket, head) {
      server.handleUpgrade(request, socket, head, (client) => {
        const ended = serveConnection(protocol, client, request, connection);
        served.add(ended);
        void ended.then(() => served.delete(ended));
      });
    },
    async close() {
      // From here on ws answers an upgrade with 503.
      server.close();
      for (const client of server.clients) client.close(1001, 'Going away');
      const cutOff = setTimeout(() => {
        for (const client of server.clients) client.terminate();
      }, GOODBYE_MS);
      await Promise.all(served);
      clearTimeout(cutOff);
    },
  };
}
