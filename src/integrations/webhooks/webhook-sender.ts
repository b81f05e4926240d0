import { readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { Agent, type Dispatcher } from 'undici';
import {
  type AddressPolicy,
  isListedHost,
  isPublicHost,
  publicAddresses,
  vettingLookup,
} from '../http/public-address.js';

/** What a receiver said, or why it said nothing. Milliseconds until the status line or the failure. */
export type PostOutcome =
  | { status: number; retryAfter: string | undefined; milliseconds: number }
  | { status: null; error: string; milliseconds: number };

export interface WebhookPost {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  signal?: AbortSignal;
}

export interface WebhookSender {
  /**
   * One POST over https, certificate verified, redirects not followed, to public addresses alone. The status line
   * decides, 30 s at most after the call. Never rejects, unless `signal` is aborted.
   */
  post(request: WebhookPost): Promise<PostOutcome>;
  /** Why a receiver's address is not taken; a name that does not resolve now may do so later. */
  problemOf(url: URL): Promise<'isHttps' | 'isPublicHost' | undefined>;
  close(): Promise<void>;
}

export const ANSWER_TIMEOUT_MS = 30_000;
/** What follows the status line is read only to keep the connection for the next POST. */
const MAX_BODY_BYTES = 65_536;
const MAX_BODY_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 4_000;
const LOOKUP_TIMEOUT_MS = 3_000;

export interface WebhookSenderOptions {
  /** `name` or `name:port`, in lower case: those may be private, and never plain HTTP. */
  allowedHosts: readonly string[];
  /** PEM; trusted beside the usual authorities. */
  caFile: string | undefined;
  answerTimeoutMs?: number;
  addresses?: AddressPolicy;
}

/** @throws Error when `caFile` can't be read */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { allowedHosts, caFile, answerTimeoutMs = ANSWER_TIMEOUT_MS, addresses = publicAddresses } = options;
  const ca = caFile === undefined ? undefined : [...rootCertificates, readFileSync(caFile, 'utf8')];
  // Once: reading 150 authorities takes 6 ms, and every connection would do it.
  const secureContext = createSecureContext({ ...(ca && { ca }) });
  const limits = {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // One clock per POST is enough, and it is in post().
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const tls = { timeout: CONNECT_TIMEOUT_MS, rejectUnauthorized: true, secureContext };
  const resolve = promisify(addresses.lookup);
  const toAnywhere = new Agent({ ...limits, connect: tls });
  const toPublic = new Agent({ ...limits, connect: { ...tls, lookup: vettingLookup(addresses) } });

  return {
    async post({ url: text, headers, body, signal }) {
      const url = new URL(text);
      const isAllowed = isListedHost(allowedHosts, url);
      if (url.protocol !== 'https:') return { status: null, error: 'not https', milliseconds: 0 };
      // undici looks up names only; the file of the list may have changed since the webhook was registered.
      if (!isAllowed && !isPublicHost(url.hostname))
        return { status: null, error: 'not a public address', milliseconds: 0 };
      const request: Dispatcher.DispatchOptions = {
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: { ...headers, ...credentialsOf(url) },
        body,
      };
      return send(isAllowed ? toAnywhere : toPublic, request, answerTimeoutMs, signal);
    },
    async problemOf(url) {
      if (url.protocol !== 'https:') return 'isHttps';
      if (isListedHost(allowedHosts, url)) return undefined;
      if (!isPublicHost(url.hostname)) return 'isPublicHost';
      const found = await within(LOOKUP_TIMEOUT_MS, resolve(url.hostname, { all: true })).catch(() => []);
      return found.every(({ address }) => addresses.isPublic(address)) ? undefined : 'isPublicHost';
    },
    async close() {
      await Promise.all([toAnywhere.destroy(), toPublic.destroy()]);
    },
  };
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

/** Settles at the status line; the body after it has a second and 64 KiB before its connection is closed. */
function send(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<PostOutcome> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const begun = performance.now();
    const elapsed = () => Math.round(performance.now() - begun);
    let controller: Dispatcher.DispatchController | undefined;
    let bodyBytes = 0;
    let stopped: Error | undefined;
    const stop = (reason: string) => {
      stopped = new Error(reason);
      controller?.abort(stopped);
    };
    let clock = setTimeout(() => settleAs('no answer in time'), timeoutMs);
    const onAbort = () => {
      reject(signal?.reason);
      stop('aborted');
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const release = () => {
      clearTimeout(clock);
      signal?.removeEventListener('abort', onAbort);
    };
    const settleAs = (error: string) => {
      release();
      resolve({ status: null, error, milliseconds: elapsed() });
      stop(error);
    };
    agent.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        // The connection came too late.
        if (stopped) started.abort(stopped);
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return;
        release();
        const retryAfter = headers['retry-after'];
        const milliseconds = elapsed();
        resolve({ status, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, milliseconds });
        clock = setTimeout(() => stop('slow body'), MAX_BODY_MS);
      },
      onResponseData(_controller, chunk) {
        bodyBytes += chunk.length;
        if (bodyBytes > MAX_BODY_BYTES) stop('long body');
      },
      onResponseEnd: release,
      onResponseError(_controller, error) {
        settleAs(describe(error));
      },
    });
  });
}

/** Codes of Node, OpenSSL and undici; a message might tell the receiver's owner about our network. */
function describe(error: Error): string {
  for (let current: unknown = error; current instanceof Error; current = current.cause)
    if ('code' in current && typeof current.code === 'string') return current.code;
  return error.name;
}
