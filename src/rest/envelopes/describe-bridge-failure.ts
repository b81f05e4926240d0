import type { Failure } from 'rest-graphql-bridge';
import { describeFailure, describeFailures } from '../../describe-failure.js';
import { AppError, invalid, invalidField } from '../../errors.js';

/** What the bridge reports, in the words of errors.ts; the two documents differ only in how they write it down. */
export function describeBridgeFailure(failure: Failure, method: string, path: string): AppError {
  switch (failure.kind) {
    case 'input':
      return invalid(
        failure.problems.map(({ field, constraint, message }) => ({ field, constraint, message })),
      );
    case 'malformed-body':
      return invalidField('body', 'isJson', failure.message);
    case 'unsupported-media-type':
      return new AppError('UNSUPPORTED_MEDIA_TYPE', `The content type must be ${failure.expected}`, {
        details: { field: 'content-type', constraint: 'isIn', expected: failure.expected },
      });
    case 'body-too-large':
      return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${failure.limitBytes} bytes`, {
        details: { field: 'body', constraint: 'maxLength', limit: failure.limitBytes },
      });
    case 'not-found':
      return new AppError('NOT_FOUND', `${method} ${path} does not exist`, {
        details: { resource: 'path', id: path },
      });
    case 'method-not-allowed':
      return new AppError('METHOD_NOT_ALLOWED', `${method} is not allowed here`, {
        details: { resource: 'path', id: path, allow: failure.allow.split(/,\s*/) },
      });
    case 'upgrade-required':
      return new AppError('UPGRADE_REQUIRED', `Only an upgrade to ${failure.upgrade} is served here`, {
        details: { field: 'upgrade', constraint: 'isIn', expected: failure.upgrade },
      });
    case 'graphql':
      return describeFailures(failure.errors);
    case 'thrown':
      return describeFailure(failure.error);
  }
}
