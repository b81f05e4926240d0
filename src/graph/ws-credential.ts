import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { Caller } from '../context.js';
import { describeFailure } from '../describe-failure.js';
import { type AppError, errorStatus } from '../errors.js';

export interface CredentialOptions {
  log: Logger;
  now(): Date;
  /** @throws AppError when the credential is not good; without one the caller is nobody. */
  authenticate(request: IncomingMessage, instead: SentInConnection): Promise<Caller>;
  /** Milliseconds after which the credential of an open socket is looked at again: its session may be revoked. */
  recheckMs: number;
}

/** What a client says of itself in connection_init, since browsers cannot set a header on a WebSocket. */
export interface SentInConnection {
  authorization?: string;
  apiKey?: string;
  linkedAuthorization?: string;
}

const parameters: readonly (readonly [keyof SentInConnection, string])[] = [
  ['authorization', 'authorization'],
  ['apiKey', 'x-api-key'],
  ['linkedAuthorization', 'x-linked-authorization'],
];

/** By the names of the headers, in any case. What is no string is no good either: it is refused like an empty one. */
export function sentIn(params: Record<string, unknown> | undefined): SentInConnection {
  const sent: SentInConnection = {};
  for (const [name, value] of Object.entries(params ?? {})) {
    const parameter = parameters.find(([, header]) => header === name.toLowerCase());
    if (parameter && value !== null && value !== undefined)
      sent[parameter[0]] = typeof value === 'string' ? value : '';
  }
  return sent;
}

/** setTimeout holds 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Closes the socket when its token runs out or is no longer good.
 * @returns stops watching.
 */
export function watchCredential(
  socket: WebSocket,
  caller: Caller,
  {
    authenticate,
    recheckMs,
    now,
    log,
  }: Pick<CredentialOptions, 'recheckMs' | 'now' | 'log'> & {
    authenticate(): Promise<Caller>;
  },
): () => void {
  const recheck = setInterval(async () => {
    try {
      await authenticate();
    } catch (error) {
      const failure = describeFailure(error);
      // A store that is away says nothing about the credential.
      if (errorStatus(failure.code) >= 500) log.warn({ err: error }, 'A GraphQL WebSocket was not rechecked');
      else closeFor(socket, failure);
    }
  }, recheckMs);
  const expiresAt = Math.min(caller.itsm?.expiresAt ?? Infinity, caller.platform?.expiresAt ?? Infinity);
  const left = expiresAt - now().getTime();
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
