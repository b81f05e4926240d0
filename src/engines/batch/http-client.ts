import { setTimeout as after } from 'node:timers/promises';
import { Agent } from 'undici';
import { connectionLookup, mayBeAsked } from '../../integrations/connections/reachable-address.js';
import type { HttpConnectionTarget } from '../engine.js';
import { EngineError } from '../engine-error.js';

const REQUEST_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** A server that wants to be left alone for longer gets its rest by the task's own retry. */
const MAX_WAIT_MS = 30_000;
const MAX_WAITS = 3;

export interface HttpAnswer {
  text: string;
  link: string | undefined;
}

export interface HttpClient {
  /** @throws EngineError SOURCE for a refusal, CONNECTION (transient) when the server cannot answer now */
  get(url: URL): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Reaches public addresses over https only, unless the connection's host is allowed; follows no redirect. */
export function openHttp(
  target: HttpConnectionTarget,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): HttpClient {
  assertReachable(target);
  const agent = new Agent({
    maxResponseSize: MAX_ANSWER_BYTES,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS, lookup: connectionLookup(target.allowPrivate) },
  });
  const request = async (url: URL, waits: number): Promise<HttpAnswer> => {
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const answer = await ask(agent, url, headers, AbortSignal.any([signal, timeout])).catch(
      (error: unknown) => {
        throw signal.aborted ? error : describe(error, url, timeout.aborted);
      },
    );
    if (answer.status >= 200 && answer.status < 300) return { text: answer.text, link: answer.link };
    const waitMs = answer.retryAfterMs;
    if (waitMs === undefined || waitMs > MAX_WAIT_MS || waits >= MAX_WAITS) throw refused(answer.status, url);
    await after(waitMs, undefined, { signal });
    return request(url, waits + 1);
  };
  return { get: (url) => request(url, 0), close: () => agent.destroy() };
}

function assertReachable({ baseUrl, allowPrivate }: HttpConnectionTarget): void {
  const url = new URL(baseUrl);
  if (mayBeAsked(url, allowPrivate)) return;
  throw new EngineError(
    'CONNECTION',
    `${url.origin} may not be reached: it must be a public https address, or be listed in CONNECTION_ALLOWED_HOSTS.`,
  );
}

interface RawAnswer extends HttpAnswer {
  status: number;
  retryAfterMs: number | undefined;
}

async function ask(
  agent: Agent,
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const answer = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'opsgraph',
      ...headers,
    },
    signal,
  });
  const isGood = answer.statusCode >= 200 && answer.statusCode < 300;
  // The text of a refusal may repeat the request's secrets: it is read for the connection's sake, and dropped.
  if (!isGood) await answer.body.dump({ limit: 65_536, signal });
  return {
    status: answer.statusCode,
    text: isGood ? await answer.body.text() : '',
    link: one(answer.headers['link']),
    retryAfterMs: isGood ? undefined : retryAfter(answer.statusCode, one(answer.headers['retry-after'])),
  };
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

/** Seconds or a date (RFC 9110, 10.2.3), of 429 and 503 only. */
function retryAfter(status: number, header: string | undefined): number | undefined {
  if ((status !== 429 && status !== 503) || header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function refused(status: number, url: URL): EngineError {
  const where = `${url.origin}${url.pathname}`;
  if (status >= 500 || status === 429 || status === 408) {
    return new EngineError('CONNECTION', `${where} answered ${status}.`, { transient: true });
  }
  const advice = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  return new EngineError('SOURCE', `${where} answered ${status}.${advice}`);
}

function describe(error: unknown, url: URL, timedOut: boolean): unknown {
  const where = `${url.origin}${url.pathname}`;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (timedOut) {
    return new EngineError('CONNECTION', `${where} did not answer within ${REQUEST_TIMEOUT_MS / 1_000} s.`, {
      transient: true,
      cause: error,
    });
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    const limit = MAX_ANSWER_BYTES / 1024 / 1024;
    return new EngineError('SOURCE', `${where} answered with more than ${limit} MiB: ask for smaller pages.`);
  }
  if (code === 'PRIVATE_ADDRESS') {
    return new EngineError(
      'CONNECTION',
      `${url.origin} may not be reached: its address is not one that connections may reach.`,
    );
  }
  return error;
}
