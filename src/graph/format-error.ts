import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';
import { toGraphqlError } from '../describe-failure.js';
import { errorStatus, isErrorCode } from '../errors.js';

/** One entry of `errors` as clients see it: a stable code, our details, nothing internal. */
export function formatError(error: GraphQLError): GraphQLFormattedError {
  const { message, code, details } = toGraphqlError(error);
  const { requestId } = error.extensions;
  return {
    message,
    ...(error.locations && { locations: error.locations }),
    ...(error.path && { path: error.path }),
    extensions: { code, ...(details && { details }), ...(requestId !== undefined && { requestId }) },
  };
}

/** Failures nobody foresaw go to the log whole, since the client is not told about them. */
export function logUnexpected(log: Logger, errors: readonly GraphQLError[]): void {
  for (const error of errors) {
    const { code } = toGraphqlError(error);
    if (!isErrorCode(code) || errorStatus(code) < 500) continue;
    log.error({ err: error.originalError ?? error, path: error.path, code }, 'A GraphQL field failed');
  }
}
