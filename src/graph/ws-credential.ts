import { decodeJwt } from 'jose';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { Caller } from '../context.js';
import { describeFailure } from '../describe-failure.js';
import { type AppError, errorStatus } from '../errors.js';

export interface CredentialOptions {
  log: Logger;
  now(): Date;
  /** @throws AppError when the credential is not good; without one the caller is nobody. */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** Milliseconds after which the credential of an open socket is looked at again: its session may be revoked. */
  recheckMs: number;
}

/** setTimeout holds 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Closes the socket when its token runs out or is no longer good.
 * @returns stops watching.
 */
export function watchCredential(
  socket: WebSocket,
  authorization: string,
  { authenticate, recheckMs, now, log }: CredentialOptions,
): () => void {
  const recheck = setInterval(async () => {
    try {
      await authenticate(authorization);
    } catch (error) {
      const failure = describeFailure(error);
      // A store that is away says nothing about the credential.
      if (errorStatus(failure.code) >= 500) log.warn({ err: error }, 'A GraphQL WebSocket was not rechecked');
      else closeFor(socket, failure);
    }
  }, recheckMs);
  const expiresAt = expiryOf(authorization);
  const left = expiresAt === undefined ? LONGEST_TIMER_MS : expiresAt - now().getTime();
  const expiry = setTimeout(() => socket.close(4403, 'TOKEN_EXPIRED'), Math.min(left, LONGEST_TIMER_MS));
  return () => {
    clearInterval(recheck);
    clearTimeout(expiry);
  };
}

/**
 * Says with the close code whether coming back makes sense to the client library: 4403 means with a new token
 * (graphql-ws, "token expiration, validation and refresh"), 1013 later, 4401 not at all. The reason is our code.
 */
export function closeFor(socket: WebSocket, failure: AppError): void {
  socket.close(closeCodeOf(failure), failure.code);
}

function closeCodeOf({ code }: AppError): number {
  if (code === 'TOKEN_EXPIRED') return 4403;
  const status = errorStatus(code);
  if (status >= 500) return status === 503 ? 1013 : 4500;
  return 4401;
}

/** Milliseconds since 1970; undefined for a credential that is no JWT or has no end. The token is verified already. */
function expiryOf(authorization: string): number | undefined {
  try {
    const { exp } = decodeJwt(authorization.slice(authorization.lastIndexOf(' ') + 1));
    return exp === undefined ? undefined : exp * 1000;
  } catch {
    return undefined;
  }
}
