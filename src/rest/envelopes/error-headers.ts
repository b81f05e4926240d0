import type { AppError, ErrorCode } from '../../errors.js';

/** RFC 6750 section 3: no error attribute when no credential came, invalid_token when it was refused. */
const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  AUTHENTICATION_ERROR: 'Bearer realm="opsgraph"',
  TOKEN_EXPIRED: 'Bearer realm="opsgraph", error="invalid_token", error_description="The token expired"',
  TOKEN_INVALID: 'Bearer realm="opsgraph", error="invalid_token"',
};

const RETRYABLE = new Set<ErrorCode>(['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE']);

/** Headers that go with an error whatever its envelope. */
export function errorHeaders(error: AppError, allow: string | undefined, now: Date): Record<string, string> {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  const challenge = CHALLENGES[error.code];
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge;
  if (allow !== undefined) headers['Allow'] = allow;
  if (RETRYABLE.has(error.code)) Object.assign(headers, retryHeaders(error, now));
  return headers;
}

/** A refused upgrade has no response on which the limit itself could have set its headers. */
function retryHeaders({ code, details }: AppError, now: Date): Record<string, string> {
  const { retryAfter, limit } = details ?? {};
  if (typeof retryAfter !== 'number') return {};
  const headers = { 'Retry-After': String(retryAfter) };
  if (code !== 'RATE_LIMIT_EXCEEDED' || typeof limit !== 'number') return headers;
  return {
    ...headers,
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(Math.ceil(now.getTime() / 1_000 + retryAfter)),
  };
}
