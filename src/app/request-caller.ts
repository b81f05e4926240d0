import type { IncomingMessage } from 'node:http';
import type { Caller } from '../context.js';
import type { Authenticator, Door } from '../domain/identity/index.js';
import { AppError } from '../errors.js';
import { recordOf } from '../gateway/request-record.js';

/** RFC 6455 subprotocols of a browser, which can send no Authorization header: "bearer, <token>". */
const SUBPROTOCOL_PAIR = /^\s*bearer\s*,\s*([^\s,]+)\s*$/i;

function authorizationOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (authorization !== undefined) return authorization;
  const token = SUBPROTOCOL_PAIR.exec(request.headers['sec-websocket-protocol'] ?? '')?.[1];
  return token === undefined ? undefined : `Bearer ${token}`;
}

/** Who sent the request; it is written down for the log line as well. @throws AppError */
export async function callerOf(
  authenticator: Authenticator,
  request: IncomingMessage,
  door: Door,
): Promise<Caller> {
  const caller = await authenticator.authenticate({ authorization: authorizationOf(request) }, door);
  const record = recordOf(request);
  record.callerId = caller.itsm?.userId ?? caller.platform?.subject;
  record.organizationId = caller.itsm?.organizationId ?? caller.platform?.organizationId;
  return caller;
}

/** @throws AUTHENTICATION_ERROR: before the body is looked at, so that a stranger learns nothing from it */
export function requireCaller(caller: Caller): Caller {
  if (caller.itsm || caller.platform) return caller;
  throw new AppError('AUTHENTICATION_ERROR', 'Authentication is required');
}
