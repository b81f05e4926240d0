import { errors } from 'jose';
import { AppError } from '../../errors.js';

export function tokenInvalid(cause?: unknown): AppError {
  return new AppError('TOKEN_INVALID', 'The token is not valid', { cause });
}

/**
 * jose checks the signature before the claims, so "expired" is only said of a token that was good once. What is not
 * jose's, such as a database that is away, stays what it is.
 */
export function tokenError(error: unknown): unknown {
  if (error instanceof errors.JWTExpired)
    return new AppError('TOKEN_EXPIRED', 'The token has expired', { cause: error });
  if (error instanceof errors.JOSEError) return tokenInvalid(error);
  return error;
}
