import type { IncomingMessage } from 'node:http';
import type { ErrorRenderer } from 'rest-graphql-bridge';
import { type AppError, type ErrorCode, errorName, errorStatus } from '../../errors.js';
import { maskRecord } from '../../masking/mask-value.js';
import { describeBridgeFailure } from './describe-bridge-failure.js';
import { errorHeaders } from './error-headers.js';

export interface PlatformErrorOptions {
  /** The request's path without its query. */
  path(request: IncomingMessage): string;
  now(): Date;
}

/** The error body of the platform document (section Errors), also that of everything outside /v1; what it quotes is masked. */
export function createPlatformErrors({ path, now }: PlatformErrorOptions): ErrorRenderer {
  return {
    render(failure, request) {
      const error = describeBridgeFailure(failure, request.method ?? 'GET', path(request));
      return {
        status: errorStatus(error.code),
        headers: errorHeaders(
          error,
          failure.kind === 'method-not-allowed' ? failure.allow : undefined,
          now(),
        ),
        body: maskRecord({
          ...ADDITIONS[error.code]?.(error),
          error: errorName(error.code, 'platform'),
          message: error.message,
          timestamp: now().toISOString(),
        }),
      };
    },
  };
}

type Addition = (error: AppError) => Record<string, unknown>;

const service: Addition = (error) => ({ service: error.details?.['service'] });

/** What the body carries beside error, message and timestamp. */
const ADDITIONS: Partial<Record<ErrorCode, Addition>> = {
  VALIDATION_ERROR: (error) => ({ details: problemsOf(error) }),
  CONFLICT: (error) => ({ ...error.details }),
  RATE_LIMIT_EXCEEDED: (error) => ({ retryAfter: error.details?.['retryAfter'] }),
  BAD_GATEWAY: service,
  SERVICE_UNAVAILABLE: service,
  GATEWAY_TIMEOUT: service,
};

/** One entry for each field; `errors` is there when there are several, the field alone when there is one. */
function problemsOf({ details, message }: AppError): Record<string, unknown>[] | undefined {
  const all: unknown = details?.['errors'];
  if (Array.isArray(all)) return all.map(({ constraint: _, ...problem }) => problem);
  const field = details?.['field'];
  return field === undefined ? undefined : [{ field, message }];
}
