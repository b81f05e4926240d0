import type { ErrorRequestHandler } from 'express';
import { GraphQLError } from 'graphql';
import { describeFailure } from '../describe-failure.js';
import { errorStatus } from '../errors.js';
import { formatError } from './format-error.js';

/** A body that cannot be read is answered in GraphQL's form, since only GraphQL clients post here. */
export const answerBodyFailure: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error);
  const failure = describeFailure(error);
  const entry = new GraphQLError(failure.message, {
    originalError: failure,
    extensions: { requestId: response.getHeader('x-request-id') },
  });
  response.status(errorStatus(failure.code)).json({ errors: [formatError(entry)] });
};
