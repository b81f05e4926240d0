import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import type { Logger } from 'pino';
import { Agent, type Dispatcher } from 'undici';
import { requestIdOf } from '../request-record.js';
import { isEventStream, requestBodyStream } from './body-streams.js';
import type { Forward, UpstreamTimeouts } from './forward.js';
import { relayAnswer } from './relay-answer.js';
import { upstreamFailure } from './upstream-failure.js';

/** Connections to one upstream: more requests than that wait for each other. */
const CONNECTIONS = 256;
/** Of the 10 s a stopping process has: what answers under way may still use. */
const CLOSE_MS = 3_000;
/** How long the rest of a body that nobody wants is read. */
const LINGER_MS = 2_000;

export interface HttpForwarder {
  /** Resolves when the answer is out, or its client gone. @throws AppError 502, 503, 504, or what refused the body */
  forward(forward: Forward, request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

export function createHttpForwarder(timeouts: UpstreamTimeouts, log: Logger): HttpForwarder {
  const agent = new Agent({
    connections: CONNECTIONS,
    connect: { timeout: timeouts.connect },
    headersTimeout: timeouts.firstByte,
    bodyTimeout: timeouts.idle,
    // An answer to somebody else's upgrade would be taken for this one's.
    pipelining: 1,
    allowH2: false,
  });
  const streams = new Set<AbortController>();

  async function exchange(
    { upstream, target, headers }: Forward,
    request: IncomingMessage,
    response: ServerResponse,
    aborting: AbortController,
  ): Promise<void> {
    const {
      statusCode,
      headers: answered,
      body,
    } = await agent.request({
      origin: upstream.origin,
      path: target,
      method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
      headers,
      body: hasBody(request) ? request.pipe(requestBodyStream(request.headers['content-type'])) : null,
      signal: aborting.signal,
    });
    const type = answered['content-type'];
    if (isEventStream(Array.isArray(type) ? type[0] : type)) streams.add(aborting);
    await relayAnswer({ statusCode, headers: answered, body }, request, response);
  }

  return {
    async forward(forward, request, response) {
      const aborting = new AbortController();
      const gone = () => aborting.abort();
      response.once('close', gone);
      try {
        await exchange(forward, request, response, aborting);
      } catch (error) {
        if (response.closed) return;
        await readToTheEnd(request);
        const { service } = forward.upstream;
        const failure = upstreamFailure(service, error);
        if (failure !== error)
          log.warn({ err: error, requestId: requestIdOf(request), service }, 'upstream failed');
        throw failure;
      } finally {
        response.off('close', gone);
        streams.delete(aborting);
      }
    },
    async close() {
      for (const stream of streams) stream.abort();
      const cut = setTimeout(() => void agent.destroy(), CLOSE_MS);
      await agent.close().catch((error: unknown) => log.debug({ err: error }, 'upstream connections cut'));
      clearTimeout(cut);
    },
  };
}

/** Whoever is still sending would get the reset of the connection before the answer. */
function readToTheEnd(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  request.unpipe();
  request.resume();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS);
    finished(request, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** RFC 9112 section 6.3. */
function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
