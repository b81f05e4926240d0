/** An object as JSON has them: no date, no upload, no stream, whose properties lead anywhere. Realms don't matter. */
export function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype as object) === null;
}
