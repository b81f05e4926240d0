import type { ErrorRequestHandler } from 'express';
import { GraphQLError } from 'graphql';
import { describeFailure } from '../describe-failure.js';
import { type AppError, errorStatus } from '../errors.js';
import { formatError } from './format-error.js';

/** What fails before Apollo is reached is answered in GraphQL's form, since only GraphQL clients post here. */
export const answerFailure: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error);
  const failure = describeFailure(error);
  const entry = new GraphQLError(failure.message, {
    originalError: failure,
    extensions: { requestId: response.getHeader('x-request-id') },
  });
  const retryAfter = retryHint(failure);
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  response.status(errorStatus(failure.code)).json({ errors: [formatError(entry)] });
};

/** Retry-After for a failure that says when to come back. */
export function retryHint({ details }: AppError): string | undefined {
  const seconds = details?.['retryAfter'];
  return typeof seconds === 'number' ? String(seconds) : undefined;
}
