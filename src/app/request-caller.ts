import type { IncomingMessage } from 'node:http';
import type { Caller } from '../context.js';
import type { Authenticator, Door, SentCredentials } from '../domain/identity/index.js';
import { AppError } from '../errors.js';
import { readAuthCookie } from '../gateway/auth-cookie.js';
import { fingerprintOf, headerOf } from '../gateway/describe-client.js';
import { recordOf } from '../gateway/request-record.js';

/** RFC 6455 subprotocols of a browser, which can send no Authorization header: "bearer, <token>". */
const SUBPROTOCOL_PAIR = /^\s*bearer\s*,\s*([^\s,]+)\s*$/i;

/** Where a request carries its token, the header first. */
export function authorizationOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (authorization !== undefined) return authorization;
  const protocols = request.headers['sec-websocket-protocol'];
  const token = protocols === undefined ? undefined : SUBPROTOCOL_PAIR.exec(protocols)?.[1];
  return token === undefined ? undefined : `Bearer ${token}`;
}

function credentialsOf(request: IncomingMessage, publicUrl: string | undefined): SentCredentials {
  return {
    authorization: authorizationOf(request),
    apiKey: request.headers['x-api-key'] === undefined ? undefined : String(request.headers['x-api-key']),
    cookieToken: () => readAuthCookie(request, publicUrl),
    linkedAuthorization: headerOf(request, 'x-linked-authorization'),
    tenantSlug: headerOf(request, 'x-tenant-slug'),
    deviceFingerprint: fingerprintOf(request),
  };
}

export interface CallerOptions {
  authenticator: Authenticator;
  publicUrl: string | undefined;
}

/**
 * Who sent the request; it is written down for the log line as well.
 * @param instead what came another way than by header, such as in the first message of a WebSocket
 * @throws AppError
 */
export async function callerOf(
  { authenticator, publicUrl }: CallerOptions,
  request: IncomingMessage,
  door: Door,
  instead: SentCredentials = {},
): Promise<Caller> {
  const caller = await authenticator.authenticate({ ...credentialsOf(request, publicUrl), ...instead }, door);
  const record = recordOf(request);
  record.callerId = caller.itsm?.apiKey?.id ?? caller.itsm?.userId ?? caller.platform?.subject;
  record.organizationId = caller.itsm?.organizationId ?? caller.platform?.organizationId;
  return caller;
}

/** @throws AUTHENTICATION_ERROR: before the body is looked at, so that a stranger learns nothing from it */
export function requireCaller(caller: Caller): Caller {
  if (caller.itsm || caller.platform) return caller;
  throw new AppError('AUTHENTICATION_ERROR', 'Authentication is required');
}
