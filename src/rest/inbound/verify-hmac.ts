import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../errors.js';

/** How far X-Webhook-Timestamp may be from now, in either direction. */
const TOLERANCE_MS = 5 * 60_000;

/** Secret of nobody: a sender without a registration costs the same time and gets the same answer as a wrong signature. */
const NOBODY = randomBytes(32).toString('hex');

const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;
const UNIX_SECONDS = /^\d{1,11}$/;
const UNIX_MILLISECONDS = /^\d{12,14}$/;

export interface HmacCheck {
  /** As it was registered; undefined when there is no such registration. */
  secret: string | undefined;
  /** The bytes as they were received: parsing and writing them again would change them. */
  body: Buffer;
  /** `sha256=<hex>` of the HMAC-SHA256 of the body (RFC 2104). */
  header: string | string[] | undefined;
}

/** @throws AUTHENTICATION_ERROR; compares in constant time. */
function verifyHmacSha256({ secret, body, header }: HmacCheck): void {
  const expected = createHmac('sha256', secret || NOBODY)
    .update(body)
    .digest();
  const sent = typeof header === 'string' ? SIGNATURE.exec(header)?.[1] : undefined;
  const equal = timingSafeEqual(expected, sent === undefined ? randomBytes(32) : Buffer.from(sent, 'hex'));
  if (!equal || !secret) throw refused();
}

/** What every webhook check is given. */
export interface SignedRequest {
  secret: string | undefined;
  body: Buffer;
  headers: IncomingHttpHeaders;
}

/**
 * A webhook of the platform: X-Webhook-Signature and, when it was sent, X-Webhook-Timestamp (Unix time in seconds or
 * milliseconds, or ISO 8601) within 5 minutes.
 * @throws AUTHENTICATION_ERROR
 */
export function verifyWebhook({ secret, body, headers }: SignedRequest, now: Date): void {
  verifyHmacSha256({ secret, body, header: headers['x-webhook-signature'] });
  const timestamp = headers['x-webhook-timestamp'];
  if (timestamp === undefined) return;
  const sentAt = typeof timestamp === 'string' ? readTimestamp(timestamp) : Number.NaN;
  // Written so that NaN, a timestamp nobody can read, is refused.
  if (Math.abs(now.getTime() - sentAt) <= TOLERANCE_MS) return;
  throw refused();
}

/** A push of ProviderA. @throws AUTHENTICATION_ERROR */
export function verifyProviderA({ secret, body, headers }: SignedRequest): void {
  verifyHmacSha256({ secret, body, header: headers['x-providera-signature-256'] });
}

/** A push of ProviderB, which sends the shared token itself. @throws AUTHENTICATION_ERROR; compares in constant time. */
export function verifyProviderB({ secret, headers }: Omit<SignedRequest, 'body'>): void {
  const sent = headers['x-providerb-token'];
  // Digests have one length, so the comparison tells nothing of the token's.
  const equal = timingSafeEqual(digest(secret || NOBODY), digest(typeof sent === 'string' ? sent : ''));
  if (!equal || !secret) throw refused();
}

function readTimestamp(text: string): number {
  if (UNIX_SECONDS.test(text)) return Number(text) * 1_000;
  return UNIX_MILLISECONDS.test(text) ? Number(text) : Date.parse(text);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refused(): AppError {
  return new AppError('AUTHENTICATION_ERROR', 'The signature of the request is missing or not valid');
}
