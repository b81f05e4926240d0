import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  validateHeaderValue,
} from 'node:http';
import type { PlatformPrincipal } from '../../context.js';

type HeaderEntry = [name: string, value: string | string[]];

/** RFC 9110 section 7.6.1; those that Connection names besides are found in the message. */
const HOP_BY_HOP = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * What a client sends that an upstream doesn't get. Expect is answered by this server; a range of JSON can't be masked, and
 * RFC 9110 section 14.2 lets a server ignore Range; an encoded answer would have to be decoded for masking; Authorization
 * goes on when the gateway has accepted it, credentials of the ITSM side don't.
 */
const KEPT_BACK = new Set([
  'accept-encoding',
  'authorization',
  'cookie',
  'expect',
  'host',
  'if-range',
  'range',
  'x-api-key',
  'x-linked-authorization',
  'x-request-id',
]);
/** Only this gateway says who the caller is and where a request came from. Some servers take "_" for "-" (RFC 3875). */
const OURS = /^(?:x[-_]user[-_]|x[-_]forwarded[-_]|forwarded$|x[-_]real[-_]ip$)/;
const WEB_SOCKET = /^sec-websocket-/;

/** A cookie of an upstream would be one of this gateway's, and it never gets one back. */
const NOT_PASSED_ON = new Set(['set-cookie', 'x-request-id']);
/** Describe bytes that masking may change. */
const OF_THE_BYTES = new Set([
  'accept-ranges',
  'content-digest',
  'content-encoding',
  'content-length',
  'content-md5',
  'digest',
  'repr-digest',
]);

export interface ForwardedRequest {
  request: IncomingMessage;
  requestId: string;
  clientAddress: string;
  /** Undefined for a sender that signs its requests. */
  caller: PlatformPrincipal | undefined;
  /** The caller's credential, wherever it was found; the back end validates it again. */
  authorization: string | undefined;
}

/** The headers of a request to an upstream, names in lower case. */
export function requestHeaders(forwarded: ForwardedRequest): Record<string, string> {
  const { request, requestId, clientAddress, caller, authorization } = forwarded;
  const kept = endToEnd(request.headers).filter(
    ([name]) => !KEPT_BACK.has(name) && !OURS.test(name) && !WEB_SOCKET.test(name),
  );
  return {
    ...Object.fromEntries(kept.map(([name, value]) => [name, [value].flat().join(', ')])),
    'accept-encoding': 'identity',
    'x-request-id': requestId,
    'x-forwarded-for': clientAddress,
    'x-forwarded-host': request.headers.host ?? '',
    'x-forwarded-proto': 'encrypted' in request.socket ? 'https' : 'http',
    ...(authorization !== undefined && { authorization }),
    ...(caller && identityHeaders(caller)),
  };
}

function identityHeaders({ subject, roles, workspaceId, email }: PlatformPrincipal): Record<string, string> {
  return {
    'x-user-id': fieldValue(subject),
    'x-user-roles': roles.join(','),
    'x-user-workspace': workspaceId,
    ...(email !== undefined && { 'x-user-email': fieldValue(email) }),
  };
}

/** A field value is ASCII (RFC 9110 section 5.5); what isn't comes percent-encoded. */
function fieldValue(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, (other) => encodeURIComponent(other.toWellFormed()));
}

/**
 * Copies the headers of an upstream's answer, and gives their names; what the gateway has set already stands.
 * @param rewritten whether the bytes of the body may change
 * @throws TypeError when a value may not be sent on; nothing is set then
 */
export function copyHeaders(
  headers: IncomingHttpHeaders,
  response: ServerResponse,
  rewritten: boolean,
): string[] {
  const passed = endToEnd(headers).filter(
    ([name]) =>
      !NOT_PASSED_ON.has(name) && !(rewritten && OF_THE_BYTES.has(name)) && !response.hasHeader(name),
  );
  for (const [name, value] of passed) for (const one of [value].flat()) validateHeaderValue(name, one);
  for (const [name, value] of passed) response.setHeader(name, value);
  return passed.map(([name]) => name);
}

function endToEnd(headers: IncomingHttpHeaders): HeaderEntry[] {
  const named = new Set(
    [headers.connection ?? []].flat().flatMap((value) => value.toLowerCase().split(/[\s,]+/)),
  );
  return Object.entries(headers).filter(
    (entry): entry is HeaderEntry =>
      entry[1] !== undefined && !HOP_BY_HOP.has(entry[0]) && !named.has(entry[0]),
  );
}
