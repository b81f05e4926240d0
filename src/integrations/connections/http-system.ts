import { Agent, fetch } from 'undici';
import type { HttpConnectionTarget } from '../../engines/engine.js';
import { connectionLookup } from './reachable-address.js';

/**
 * GET of the base URL; the body is not read. That there is nothing at the base itself (404, 405) is common.
 * @throws Error when the service refuses, fails or sends elsewhere
 */
export async function probeHttp(target: HttpConnectionTarget, signal: AbortSignal): Promise<string> {
  const dispatcher = new Agent({ connect: { lookup: connectionLookup(target.allowPrivate) } });
  try {
    const { status, body } = await fetch(target.baseUrl, {
      headers: target.headers,
      redirect: 'manual',
      signal,
      dispatcher,
    });
    await body?.cancel();
    if (status === 401 || status === 403) throw new Error(`The service refuses the credentials (${status}).`);
    if (status >= 300 && status < 400)
      throw new Error(`The service redirects (${status}), and redirects are not followed.`);
    if (status >= 500) throw new Error(`The service answers ${status}.`);
    return `The service answers ${status}.`;
  } finally {
    await dispatcher.destroy();
  }
}
