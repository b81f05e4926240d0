import type { IncomingMessage, ServerResponse } from 'node:http';
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
import type { RowInput, SseEvent, SseRow } from './row.js';

const HEARTBEAT_MS = 15_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // no-transform keeps compression middleware from holding events back until its buffer is full.
  'cache-control': 'no-cache, no-transform',
  // nginx would buffer otherwise.
  'x-accel-buffering': 'no',
};

/** WHATWG HTML section 9.2.6. Line ends inside a name or id would start a new field. */
function formatEvent({ event, id, data }: SseEvent): string {
  let text = '';
  if (event !== undefined) text += `event: ${oneLine(event)}\n`;
  if (id !== undefined) text += `id: ${oneLine(String(id))}\n`;
  const body = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  for (const line of body.split(/\r\n|\r|\n/)) text += `data: ${line}\n`;
  return `${text}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, ' ');
}

/** Serves a row whose input has been read: errors before the first byte are thrown and become an HTTP response. */
export async function serveSse(
  row: SseRow<never>,
  operation: Operation,
  host: StreamHost,
  request: IncomingMessage,
  response: ServerResponse,
  input: RowInput<unknown>,
): Promise<void> {
  const makeFirst = row.connected as ((input: RowInput<unknown>) => SseEvent) | undefined;
  const subscription = await subscribe(row, operation, host, input);
  let first: string;
  try {
    first = row.retryMs === undefined ? '' : `retry: ${row.retryMs}\n\n`;
    if (makeFirst) first += formatEvent(makeFirst(input));
  } catch (error) {
    release(subscription.source, (reason) => host.tell(reason, request));
    throw error;
  }
  const stream = new SseStream(row, host, request, response, subscription);
  stream.start(first);
}

class SseStream implements Sink, OpenStream {
  readonly #row: SseRow<never>;
  readonly #host: StreamHost;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #subscription: Subscription;
  #heartbeat: NodeJS.Timeout | undefined;
  #life: NodeJS.Timeout | undefined;
  closed = false;

  constructor(
    row: SseRow<never>,
    host: StreamHost,
    request: IncomingMessage,
    response: ServerResponse,
    subscription: Subscription,
  ) {
    this.#row = row;
    this.#host = host;
    this.#request = request;
    this.#response = response;
    this.#subscription = subscription;
  }

  start(first: string): void {
    if (this.#response.destroyed) {
      this.#stop();
      return;
    }
    const { heartbeatEvent, heartbeatMs = HEARTBEAT_MS } = this.#row;
    this.#response.once('close', () => {
      this.#stop();
      this.#host.streams.remove(this);
    });
    this.#response.writeHead(200, HEADERS);
    this.#response.flushHeaders();
    const beat = heartbeatEvent === undefined ? ':\n\n' : formatEvent({ event: heartbeatEvent, data: {} });
    this.#heartbeat = setInterval(() => this.#response.write(beat), heartbeatMs);
    const { life } = this.#subscription;
    if (life) this.#life = setTimeout(() => this.close(), life.ms);
    if (first !== '') this.#write(first);
    this.#host.streams.add(this);
    void pump(this.#subscription, this);
  }

  send(data: unknown): Promise<void> | undefined {
    const event = this.#row.event(data);
    return event === undefined ? undefined : this.#write(formatEvent(event));
  }

  fail(failure: Failure): void {
    this.#host.tell(causeOf(failure), this.#request);
    if (this.#row.failed) this.#write(formatEvent(this.#row.failed));
    this.close();
  }

  end(): void {
    this.close();
  }

  close(): void {
    if (this.closed) return;
    this.#stop();
    this.#response.end();
  }

  cut(): void {
    this.#stop();
    this.#response.destroy();
  }

  #write(text: string): Promise<void> | undefined {
    if (this.closed) return undefined;
    this.#heartbeat?.refresh();
    const response = this.#response;
    return writeOrCut(
      this.#row,
      (flushed) => response.write(text, flushed),
      () => response.writableLength,
      () => this.cut(),
    );
  }

  /** The client is gone or is being let go: the source hears of it at once. */
  #stop(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#life);
    release(this.#subscription.source, (error) => this.#host.tell(error, this.#request));
  }
}
