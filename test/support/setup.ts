import { types } from 'node:util';
import { runInThisContext } from 'node:vm';
import { jest } from '@jest/globals';

/**
 * In a vm context of Jest's, errors made by Node's core are not `instanceof Error`; graphql then reports "Unexpected
 * error value". Most files run in the worker's own realm, where they are.
 */
if (runInThisContext('Error') !== Error) {
  const inherited = Error[Symbol.hasInstance];
  Object.defineProperty(Error, Symbol.hasInstance, {
    value(this: ErrorConstructor, value: unknown): boolean {
      return inherited.call(this, value) || (this === Error && types.isNativeError(value));
    },
  });
}

// A CI machine stands still at times: there a failed test gets one more try, and its first failure is printed.
if (process.env['CI'] === 'true') jest.retryTimes(1, { logErrorsBeforeRetry: true });
