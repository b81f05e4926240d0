import { Agent, type RequestInit, fetch as send } from 'undici';
import { isListedHost, isPublicHost, publicLookup } from './public-address.js';

export interface PublicFetch {
  /**
   * `fetch` that reaches public addresses over https only, and follows no redirect. The address that was vetted is the
   * one connected to, so a name that changes its mind in between (DNS rebinding) gains nothing.
   * @throws Error for a host or protocol that is not permitted; TypeError, as fetch does, when nobody answers
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** What is wrong with an address before any name is looked up; undefined when nothing is. */
  problemOf(url: URL): 'isHttps' | 'isPublicHost' | undefined;
  close(): Promise<void>;
}

const MAX_RESPONSE_BYTES = 1_048_576;
const TIMEOUT_MS = 5_000;

/** @param allowedHosts `name` or `name:port`, in lower case: those may be private and speak plain HTTP. */
export function createPublicFetch(allowedHosts: readonly string[]): PublicFetch {
  const limits = {
    maxResponseSize: MAX_RESPONSE_BYTES,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  };
  const toAnywhere = new Agent({ ...limits, connect: { timeout: TIMEOUT_MS } });
  const toPublic = new Agent({ ...limits, connect: { timeout: TIMEOUT_MS, lookup: publicLookup } });
  const isAllowed = (url: URL) => isListedHost(allowedHosts, url);

  const problemOf: PublicFetch['problemOf'] = (url) => {
    if (isAllowed(url)) return url.protocol === 'https:' || url.protocol === 'http:' ? undefined : 'isHttps';
    if (url.protocol !== 'https:') return 'isHttps';
    return isPublicHost(url.hostname) ? undefined : 'isPublicHost';
  };

  return {
    problemOf,
    async fetch(address, init) {
      const url = new URL(address);
      const problem = problemOf(url);
      if (problem !== undefined) throw new Error(`${url.origin} is not permitted: ${problem}`);
      const dispatcher = isAllowed(url) ? toAnywhere : toPublic;
      const signal = init?.signal ?? AbortSignal.timeout(TIMEOUT_MS);
      const response = await send(url, { ...init, redirect: 'error', signal, dispatcher });
      return response as unknown as Response;
    },
    async close() {
      await Promise.all([toAnywhere.destroy(), toPublic.destroy()]);
    },
  };
}
