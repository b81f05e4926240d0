import type { IncomingMessage } from 'node:http';
import type { ErrorRenderer, Failure, InputProblem } from 'rest-graphql-bridge';
import { type AppError, errorName, errorStatus, notFound } from '../../errors.js';
import { describeBridgeFailure } from './describe-bridge-failure.js';
import { errorHeaders } from './error-headers.js';

export interface ItsmErrorOptions {
  requestId(request: IncomingMessage): string;
  /** The request's path without its query. */
  path(request: IncomingMessage): string;
  now(): Date;
}

/** The error envelope of the ITSM document (section Errors). */
export function createItsmErrors({ requestId, path, now }: ItsmErrorOptions): ErrorRenderer {
  return {
    render(failure, request) {
      const requestPath = path(request);
      const error = describe(failure, request.method ?? 'GET', requestPath);
      return {
        status: errorStatus(error.code),
        headers: errorHeaders(
          error,
          failure.kind === 'method-not-allowed' ? failure.allow : undefined,
          now(),
        ),
        body: {
          success: false,
          error: {
            code: errorName(error.code, 'itsm'),
            message: error.message,
            details: error.details,
            requestId: requestId(request),
            timestamp: now().toISOString(),
            path: requestPath,
          },
        },
      };
    },
  };
}

function describe(failure: Failure, method: string, path: string): AppError {
  const malformedId = failure.kind === 'input' && failure.problems.find(isMalformedId);
  return malformedId ? noSuchResource(malformedId, path) : describeBridgeFailure(failure, method, path);
}

/** A path that is no valid percent-encoding is malformed itself. */
function isMalformedId(problem: InputProblem): boolean {
  return problem.in === 'path' && problem.constraint !== 'isPercentEncoded';
}

/**
 * A malformed id names nothing, so it is answered as an absent one: `id` belongs to the first collection of the path,
 * `commentId` to `comments`; what is no id, such as `method`, is the last thing the path names.
 */
function noSuchResource(problem: InputProblem, path: string): AppError {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'v1');
  if (!/^id$|Id$/.test(problem.field)) return notFound(problem.field, segments.at(-1) ?? '');
  const own = problem.field.endsWith('Id') ? problem.field.slice(0, -2) : undefined;
  const collection = own === undefined ? 0 : segments.findIndex((segment) => singular(segment) === own);
  const resource = own ?? singular(segments[0] ?? 'resource');
  return notFound(resource, segments[collection + 1] ?? '');
}

function singular(collection: string): string {
  return collection.replace(/ies$/, 'y').replace(/s$/, '');
}
