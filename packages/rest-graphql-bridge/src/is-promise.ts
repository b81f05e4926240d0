/** Not `instanceof`: a promise of another realm, as test runners and `node:vm` have them, is one too. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
