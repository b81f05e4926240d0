import { types } from 'node:util';
import { jest } from '@jest/globals';

/**
 * Jest runs tests in a realm of its own, where errors made by Node's core are not `instanceof Error`; graphql then
 * reports "Unexpected error value".
 */
const inherited = Error[Symbol.hasInstance];
Object.defineProperty(Error, Symbol.hasInstance, {
  value(this: ErrorConstructor, value: unknown): boolean {
    return inherited.call(this, value) || (this === Error && types.isNativeError(value));
  },
});

// A CI machine stands still at times: there a failed test gets one more try, and its first failure is printed.
if (process.env['CI'] === 'true') jest.retryTimes(1, { logErrorsBeforeRetry: true });
