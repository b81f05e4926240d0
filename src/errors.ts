/**
 * Every failure a caller can see has one of these codes. The two REST documents name some of them differently;
 * the table is the only place where that is known.
 */
const errorTable = {
  VALIDATION_ERROR: { status: 400, itsm: 'VALIDATION_ERROR', platform: 'BAD_REQUEST' },
  AUTHENTICATION_ERROR: { status: 401, itsm: 'AUTHENTICATION_ERROR', platform: 'UNAUTHORIZED' },
  TOKEN_EXPIRED: { status: 401, itsm: 'TOKEN_EXPIRED', platform: 'UNAUTHORIZED' },
  TOKEN_INVALID: { status: 401, itsm: 'TOKEN_INVALID', platform: 'UNAUTHORIZED' },
  AUTHORIZATION_ERROR: { status: 403, itsm: 'AUTHORIZATION_ERROR', platform: 'FORBIDDEN' },
  ACCOUNT_LOCKED: { status: 403, itsm: 'ACCOUNT_LOCKED', platform: 'FORBIDDEN' },
  NOT_FOUND: { status: 404, itsm: 'NOT_FOUND', platform: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { status: 405, itsm: 'NOT_FOUND', platform: 'METHOD_NOT_ALLOWED' },
  CONFLICT: { status: 409, itsm: 'CONFLICT', platform: 'CONFLICT' },
  PAYLOAD_TOO_LARGE: { status: 413, itsm: 'VALIDATION_ERROR', platform: 'PAYLOAD_TOO_LARGE' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, itsm: 'VALIDATION_ERROR', platform: 'UNSUPPORTED_MEDIA_TYPE' },
  UPGRADE_REQUIRED: { status: 426, itsm: 'VALIDATION_ERROR', platform: 'UPGRADE_REQUIRED' },
  RATE_LIMIT_EXCEEDED: { status: 429, itsm: 'RATE_LIMIT_EXCEEDED', platform: 'RATE_LIMITED' },
  INTERNAL_ERROR: { status: 500, itsm: 'INTERNAL_ERROR', platform: 'INTERNAL_ERROR' },
  BAD_GATEWAY: { status: 502, itsm: 'SERVICE_UNAVAILABLE', platform: 'BAD_GATEWAY' },
  SERVICE_UNAVAILABLE: { status: 503, itsm: 'SERVICE_UNAVAILABLE', platform: 'SERVICE_UNAVAILABLE' },
  GATEWAY_TIMEOUT: { status: 504, itsm: 'SERVICE_UNAVAILABLE', platform: 'GATEWAY_TIMEOUT' },
} as const satisfies Record<string, { status: number; itsm: string; platform: string }>;

export type ErrorCode = keyof typeof errorTable;

export function errorStatus(code: ErrorCode): number {
  return errorTable[code].status;
}

export function errorName(code: ErrorCode, surface: 'itsm' | 'platform'): string {
  return errorTable[code][surface];
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code);
}

export interface FieldProblem {
  field: string;
  constraint: string;
  message: string;
}

/** A failure the caller may see: its message and details are safe to send, its cause never leaves the server. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | null;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details ?? null;
  }

  /** GraphQL puts `extensions` of the original error into the response; the code is stable, details may be null. */
  get extensions(): { code: ErrorCode; details?: Record<string, unknown> } {
    return this.details === null ? { code: this.code } : { code: this.code, details: this.details };
  }
}

/** The first problem gives `field` and `constraint`; several are all listed under `errors`. */
export function invalid(problems: FieldProblem | FieldProblem[]): AppError {
  const all = Array.isArray(problems) ? problems : [problems];
  const [first] = all;
  if (first === undefined) throw new TypeError('invalid() needs a problem');
  const details: Record<string, unknown> = { field: first.field, constraint: first.constraint };
  if (all.length > 1) details['errors'] = all;
  return new AppError('VALIDATION_ERROR', first.message, { details });
}

export function invalidField(field: string, constraint: string, message: string): AppError {
  return invalid({ field, constraint, message });
}

/** Another tenant's id and an absent one give the same answer. */
export function notFound(resource: string, id: string): AppError {
  return new AppError('NOT_FOUND', `${resource} not found`, { details: { resource, id } });
}

export function conflict(message: string, details: Record<string, unknown>): AppError {
  return new AppError('CONFLICT', message, { details });
}

export function unavailable(service: string, retryAfterSeconds: number, cause?: unknown): AppError {
  return new AppError('SERVICE_UNAVAILABLE', `${service} is unavailable`, {
    details: { service, retryAfter: retryAfterSeconds },
    cause,
  });
}
