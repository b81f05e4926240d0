import { types } from 'node:util';

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
