import { AppError } from '../../errors.js';

/** One sentence for every reason, which only the log and the audit tell: whoever forges learns nothing from it. */
export function refused(cause: unknown): AppError {
  return new AppError('AUTHENTICATION_ERROR', 'The answer of the login provider is not valid', { cause });
}
