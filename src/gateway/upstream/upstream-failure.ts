import { AppError, type ErrorCode } from '../../errors.js';

/** Seconds after which a client may ask again for an upstream that is away. */
const RETRY_SECONDS = 5;

/** Nobody took the request: it may be sent again. */
const AWAY = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);
const TOO_SLOW = new Set([
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
]);

const MESSAGES = {
  BAD_GATEWAY: 'gave no valid answer',
  SERVICE_UNAVAILABLE: 'is unavailable',
  GATEWAY_TIMEOUT: 'did not answer in time',
} as const satisfies Partial<Record<ErrorCode, string>>;

type GatewayCode = keyof typeof MESSAGES;

/** What a client is told when an upstream could not be asked: 503 when it is not there, 504 when it is slow, else 502. */
export function upstreamFailure(service: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (AWAY.has(code)) return gatewayError('SERVICE_UNAVAILABLE', service, error);
  return gatewayError(TOO_SLOW.has(code) ? 'GATEWAY_TIMEOUT' : 'BAD_GATEWAY', service, error);
}

function gatewayError(code: GatewayCode, service: string, cause?: unknown): AppError {
  const details = code === 'SERVICE_UNAVAILABLE' ? { service, retryAfter: RETRY_SECONDS } : { service };
  return new AppError(code, `${service} ${MESSAGES[code]}`, { details, cause });
}

/** Of several addresses that were tried, Node reports the first one's code on the whole. */
function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
