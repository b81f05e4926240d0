import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorRenderer, type Failure, plainErrors, type RenderedFailure } from './failure.js';
import { hasBody } from './request-body.js';

/** A body up to this size is read and forgotten so that the connection can be used again. */
const DISCARD_BYTES = 65_536;
const LINGER_BYTES = 16 * 1_048_576;
const LINGER_MS = 2_000;
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

type Headers = { [name: string]: string | number | readonly string[] };

/** Told of every error a client could not be told about, and of every failure answered with 500 or above. */
export type OnUnexpected = (error: unknown, request: IncomingMessage) => void;

function lowerCased(headers: RenderedFailure['headers']): Headers {
  const lowered: Headers = {};
  for (const name in headers) lowered[name.toLowerCase()] = headers[name] ?? '';
  return lowered;
}

/** Sends a complete response. HEAD gets the same headers and no body (RFC 9110 section 9.3.2). */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Headers,
  body: string | undefined,
): void {
  const unread = leavesBodyUnread(request);
  if (unread) headers.connection = 'close';
  if (body === undefined || status === 204 || status === 304) {
    if (status !== 204 && status !== 304) headers['content-length'] = 0;
    response.writeHead(status, headers as { [name: string]: string });
    finish(request, response, undefined, unread);
    return;
  }
  const bytes = Buffer.from(body);
  headers['content-length'] = bytes.length;
  response.writeHead(status, headers as { [name: string]: string });
  finish(request, response, request.method === 'HEAD' ? undefined : bytes, unread);
}

/** True when more of a body may be on its way than Node should read and forget to keep the connection. */
function leavesBodyUnread(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return false;
  const length = request.headers['content-length'];
  return length === undefined || Number(length) > DISCARD_BYTES;
}

/**
 * Ends a response. When a body is left unread the client may still be sending: closing at once would reset the
 * connection and lose the answer, so for a bounded time what arrives is thrown away first (nginx: lingering_close).
 */
function finish(
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer | undefined,
  unread: boolean,
) {
  if (!unread) {
    response.end(bytes);
    return;
  }
  response.write(bytes ?? '');
  response.flushHeaders();
  let discarded = 0;
  const end = () => {
    clearTimeout(timer);
    request.off('data', onData).off('end', end).off('close', end);
    response.end();
  };
  const onData = (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.on('data', onData).on('end', end).on('close', end).resume();
}

export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  value: unknown,
  headers?: Readonly<Record<string, string>>,
): void {
  const lowered: Headers = headers ? lowerCased(headers) : {};
  lowered['content-type'] ??= JSON_TYPE;
  send(request, response, status, lowered, value === undefined ? undefined : JSON.stringify(value));
}

export function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const lowered: Headers = headers ? lowerCased(headers) : {};
  lowered['content-type'] ??= TEXT_TYPE;
  send(request, response, status, lowered, text);
}

/** What a failure's renderer made of it, ready for a response or a bare socket. */
interface Rendered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | undefined;
}

export function causeOf(failure: Failure): unknown {
  if (failure.kind === 'thrown') return failure.error;
  if (failure.kind === 'graphql') return failure.errors[0]?.originalError ?? failure.errors[0];
  return new Error(`A request failure of kind ${failure.kind} was rendered as a server error`);
}

function renderWith(renderer: ErrorRenderer, failure: Failure, request: IncomingMessage): Rendered {
  const { status, headers: given, body } = renderer.render(failure, request);
  const headers = lowerCased(given);
  if (failure.kind === 'method-not-allowed') headers.allow ??= failure.allow;
  if (failure.kind === 'upgrade-required') {
    headers.upgrade ??= failure.upgrade;
    // RFC 9110 section 7.8: whoever sends Upgrade says so in Connection.
    headers.connection ??= 'upgrade';
  }
  if (body === undefined) return { status, headers, body: undefined };
  headers['content-type'] ??= typeof body === 'string' ? TEXT_TYPE : JSON_TYPE;
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** Renders a failure; a renderer that throws is replaced by the plain one, so a request is always answered. */
function render(
  renderer: ErrorRenderer,
  failure: Failure,
  request: IncomingMessage,
  tell: OnUnexpected,
): Rendered {
  try {
    const rendered = renderWith(renderer, failure, request);
    if (rendered.status >= 500) tell(causeOf(failure), request);
    return rendered;
  } catch (error) {
    tell(error, request);
    return renderWith(plainErrors, { kind: 'thrown', error }, request);
  }
}

export function sendFailure(
  request: IncomingMessage,
  response: ServerResponse,
  failure: Failure,
  renderer: ErrorRenderer,
  tell: OnUnexpected,
): void {
  if (response.headersSent || response.destroyed) {
    // Too late for an answer: the client must at least not take half a response for a whole one.
    if (!response.writableEnded) response.destroy();
    if (failure.kind === 'thrown' || failure.kind === 'graphql') tell(causeOf(failure), request);
    return;
  }
  const { status, headers, body } = render(renderer, failure, request, tell);
  try {
    send(request, response, status, headers, body);
  } catch (error) {
    // A header that may not be sent, such as one with a line end in it.
    tell(error, request);
    send(request, response, 500, {}, undefined);
  }
}

/** Answers an upgrade request that will not be upgraded, and closes its socket. */
export function sendFailureOnSocket(
  request: IncomingMessage,
  socket: Duplex,
  failure: Failure,
  renderer: ErrorRenderer,
  tell: OnUnexpected,
): void {
  const { status, headers, body = '' } = render(renderer, failure, request, tell);
  const bytes = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (const [name, value] of Object.entries({
    ...headers,
    'content-length': bytes.length,
    connection: 'close',
  })) {
    for (const one of Array.isArray(value) ? value : [value])
      lines.push(`${name}: ${String(one).replace(/[\r\n]/g, ' ')}`);
  }
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]));
}
