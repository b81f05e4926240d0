import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestClient } from '../context.js';
import { authCookieOf } from './auth-cookie.js';

/** As a login takes at most. */
const MAX_FINGERPRINT_CHARACTERS = 512;
/** Where a browser finds a development server by name (RFC 6761 section 6.3). */
const LOCAL_NAME = 'localhost';

/** What a request says of its sender beside its credentials, added to what the rate limits know of them. */
export function describeClient(
  client: RequestClient,
  request: IncomingMessage,
  response: ServerResponse | undefined,
  publicUrl: string | undefined,
): RequestClient {
  const { origin } = request.headers;
  const slug = headerOf(request, 'x-tenant-slug') ?? undefined;
  const subdomain = slug === undefined && origin !== undefined ? subdomainOf(origin, publicUrl) : undefined;
  return Object.assign(client, {
    deviceFingerprint: fingerprintOf(request),
    tenant: tenantOf(slug, subdomain),
    authCookie: authCookieOf(request, response),
  });
}

export function fingerprintOf(request: IncomingMessage): string | undefined {
  return headerOf(request, 'x-device-fingerprint')?.slice(0, MAX_FINGERPRINT_CHARACTERS);
}

/** Node joins what is sent twice with a comma; an empty one says nothing. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function tenantOf(slug: string | undefined, subdomain: string | undefined): RequestClient['tenant'] {
  if (slug !== undefined) return { slug, by: 'header' };
  return subdomain === undefined ? undefined : { slug: subdomain, by: 'origin' };
}

/** The one label before the public host's name; undefined for our own name and for strangers. */
function subdomainOf(origin: string, publicUrl: string | undefined): string | undefined {
  const base = publicUrl === undefined ? LOCAL_NAME : new URL(publicUrl).hostname;
  const host = URL.parse(origin)?.hostname;
  if (host === undefined || !host.endsWith(`.${base}`)) return undefined;
  const label = host.slice(0, -base.length - 1);
  return label.includes('.') ? undefined : label;
}
