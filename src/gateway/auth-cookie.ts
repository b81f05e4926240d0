import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthCookie } from '../context.js';
import { AppError } from '../errors.js';

/** ITSM document, Authentication 3. */
const NAME = 'itsm_auth_token';
/**
 * Secure also on http://localhost and http://127.0.0.1: Chrome and Firefox count those as secure (W3C Secure Contexts,
 * section 3.1), and leaving it out by the Host header would leave it out behind a proxy that rewrites Host.
 */
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Strict';
/** Not among the headers a page may send elsewhere without asking first (Fetch, CORS-safelisted request-header). */
const BROWSER_LOGIN = 'x-browser-login';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Undefined for a request that neither asks for the cookie nor has one. */
export function authCookieOf(
  { headers }: IncomingMessage,
  response: ServerResponse | undefined,
): AuthCookie | undefined {
  const asks = headers[BROWSER_LOGIN] !== undefined;
  if (!response || (!asks && headers.cookie === undefined)) return undefined;
  return {
    set(accessToken, seconds) {
      if (asks)
        response.appendHeader('Set-Cookie', `${NAME}=${accessToken}; Max-Age=${seconds}; ${ATTRIBUTES}`);
    },
    clear() {
      response.appendHeader('Set-Cookie', `${NAME}=; Max-Age=0; ${ATTRIBUTES}`);
    },
  };
}

/**
 * The access token of a browser that is signed in; not of one that is about to sign in, since an old token must not
 * keep it from that.
 * @throws AUTHORIZATION_ERROR when another site may have caused the request, TOKEN_INVALID for two cookies: the second
 *   one is from a neighbouring subdomain
 */
export function readAuthCookie(request: IncomingMessage, publicUrl: string | undefined): string | undefined {
  const { headers } = request;
  if (headers.cookie === undefined || headers[BROWSER_LOGIN] !== undefined) return undefined;
  const tokens = valuesOf(headers.cookie);
  if (tokens.length === 0) return undefined;
  if (tokens.length > 1) throw new AppError('TOKEN_INVALID', `The cookie ${NAME} was sent twice`);
  refuseCrossSite(request, publicUrl);
  return tokens[0];
}

function valuesOf(cookies: string): string[] {
  const prefix = `${NAME}=`;
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
}

/**
 * The browser sends the cookie by itself, so a write must prove that a page of ours caused it: by Sec-Fetch-Site, which
 * no script can set, or by Origin where a browser sends no such header (OWASP CSRF Prevention Cheat Sheet, Fetch
 * Metadata). A WebSocket is a write whatever it does, since the same-origin policy does not keep others from reading it,
 * and is judged by Origin: not every browser sends Sec-Fetch-Site with it. With neither there is no proof.
 */
function refuseCrossSite(request: IncomingMessage, publicUrl: string | undefined): void {
  const isUpgrade = request.headers.upgrade !== undefined;
  if (!isUpgrade && SAFE_METHODS.has(request.method ?? '')) return;
  const site = request.headers['sec-fetch-site'];
  const isOurs =
    !isUpgrade && site !== undefined ? site === 'same-origin' : isOurOrigin(request.headers, publicUrl);
  if (!isOurs || (site !== undefined && site !== 'same-origin'))
    throw new AppError(
      'AUTHORIZATION_ERROR',
      'A request with the cookie must come from a page of this origin',
    );
}

function isOurOrigin({ origin, host }: IncomingMessage['headers'], publicUrl: string | undefined): boolean {
  const from = origin === undefined ? null : URL.parse(origin);
  if (from === null) return false;
  if (publicUrl === undefined) return from.host === host;
  const ours = new URL(publicUrl);
  // A page of http:// on the same host could be anybody's who sits on the wire.
  return from.protocol === ours.protocol && (from.host === ours.host || from.host === host);
}
