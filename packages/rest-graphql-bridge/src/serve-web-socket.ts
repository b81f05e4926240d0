import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import {
  pump,
  release,
  type Sink,
  type StreamHost,
  type Subscription,
  subscribe,
  writeOrCut,
} from './event-source.js';
import type { Failure } from './failure.js';
import type { OpenStream } from './open-streams.js';
import type { Operation } from './operation.js';
import { causeOf } from './respond.js';
import type { CloseFrame, RowInput, WebSocketRow } from './row.js';
import type { Upgrade } from './socket-dispatch.js';

const PING_MS = 30_000;
/** Clients have nothing to say here: a longer message closes the connection (1009). */
const MAX_INCOMING_BYTES = 16_384;
/** RFC 6455 section 5.5: a control frame carries 125 bytes, two of which are the close code. */
const MAX_REASON_BYTES = 123;

/** Chooses one of the subprotocols a client offers; undefined selects none. */
export type SelectProtocol = (offered: readonly string[]) => string | undefined;

/**
 * A browser can't set Authorization on a WebSocket, so its token comes as the pair "bearer, <token>" of
 * Sec-WebSocket-Protocol. The answer must name one of the offered protocols, and never the token.
 */
export const selectBearer: SelectProtocol = (offered) => (offered.includes('bearer') ? 'bearer' : undefined);

export function makeWebSocketServer(select: SelectProtocol): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_INCOMING_BYTES,
    handleProtocols: (offered) => select([...offered]) ?? false,
  });
}

/**
 * Serves a row whose input has been read. The source is opened before the upgrade, so its refusal can still be an HTTP
 * response: it is thrown.
 */
export async function serveWebSocket(
  row: WebSocketRow<never>,
  operation: Operation,
  host: StreamHost,
  server: WebSocketServer,
  upgrade: Upgrade,
  input: RowInput<unknown>,
): Promise<void> {
  const { request, socket, head } = upgrade;
  const stream = new WebSocketStream(row, host, request, await subscribe(row, operation, host, input));
  // Also covers a handshake that `ws` refuses: it then destroys the socket and calls nobody.
  socket.once('close', () => stream.gone());
  if (socket.destroyed) stream.gone();
  else server.handleUpgrade(request, socket, head, (client) => stream.start(client));
}

class WebSocketStream implements Sink, OpenStream {
  readonly #row: WebSocketRow<never>;
  readonly #host: StreamHost;
  readonly #request: IncomingMessage;
  readonly #subscription: Subscription;
  #client: WebSocket | undefined;
  #ping: NodeJS.Timeout | undefined;
  #life: NodeJS.Timeout | undefined;
  closed = false;

  constructor(
    row: WebSocketRow<never>,
    host: StreamHost,
    request: IncomingMessage,
    subscription: Subscription,
  ) {
    this.#row = row;
    this.#host = host;
    this.#request = request;
    this.#subscription = subscription;
  }

  start(client: WebSocket): void {
    this.#client = client;
    // A protocol error of the client's: `ws` closes the connection itself.
    client.on('error', () => this.#stop());
    client.once('close', () => this.gone());
    this.#keepAlive(client);
    const { life } = this.#subscription;
    if (life) this.#life = setTimeout(() => this.#close(life.close), life.ms);
    this.#host.streams.add(this);
    void pump(this.#subscription, this);
  }

  #keepAlive(client: WebSocket): void {
    let alive = true;
    client.on('pong', () => {
      alive = true;
    });
    this.#ping = setInterval(() => {
      if (!alive) {
        this.cut();
        return;
      }
      alive = false;
      client.ping();
    }, this.#row.pingMs ?? PING_MS);
  }

  send(data: unknown): Promise<void> | undefined {
    const message = this.#row.message(data);
    const frame = this.#row.closeWhen?.(data);
    const sending = message === undefined ? undefined : this.#write(message);
    if (frame) this.#close(frame);
    return sending;
  }

  #write(message: unknown): Promise<void> | undefined {
    const client = this.#client;
    if (this.closed || client?.readyState !== WebSocket.OPEN) return undefined;
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return writeOrCut(
      this.#row,
      (flushed) => client.send(text, flushed),
      () => client.bufferedAmount,
      () => this.cut(),
    );
  }

  fail(failure: Failure): void {
    this.#host.tell(causeOf(failure), this.#request);
    this.#close({ code: 1011, reason: 'internal error' });
  }

  end(): void {
    this.#close({ code: 1000 });
  }

  close(): void {
    this.#close({ code: 1001, reason: 'server is stopping' });
  }

  cut(): void {
    this.#stop();
    this.#client?.terminate();
  }

  /** The connection is gone. */
  gone(): void {
    this.#stop();
    this.#host.streams.remove(this);
  }

  #close({ code, reason = '' }: CloseFrame): void {
    if (this.closed) return;
    // First, since `ws` throws for a code it does not know, and the stream is then still open to fail with 1011.
    this.#client?.close(code, shortened(reason));
    this.#stop();
  }

  #stop(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.#ping);
    clearTimeout(this.#life);
    release(this.#subscription.source, (error) => this.#host.tell(error, this.#request));
  }
}

function shortened(reason: string): string {
  let text = reason;
  while (Buffer.byteLength(text) > MAX_REASON_BYTES) text = text.slice(0, -1);
  return text;
}
