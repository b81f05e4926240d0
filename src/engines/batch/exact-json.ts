/** A number of sixteen digits or more may be another one as a double. */
const LONG_NUMBER = /[\d.]{16}|\d[eE]/;

/** JSON.rawJSON and the third argument of revivers: ECMAScript 2026, in Node since 21, not yet in TypeScript's library. */
const { rawJSON, isRawJSON, parse } = JSON as unknown as {
  isRawJSON(value: unknown): boolean;
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
};

/** DuckDB brings a JSON number to DECIMAL by way of a double, and a JSON text directly. */
export function decimalsAsText(row: object, decimals: readonly string[]): object {
  const exact = decimals.flatMap((name) => {
    const value: unknown = (row as Record<string, unknown>)[name];
    return isRaw(value) ? [[name, value.rawJSON] as const] : [];
  });
  return exact.length > 0 ? { ...row, ...Object.fromEntries(exact) } : row;
}

/** Whether the value is a number that parseExactly keeps as it was written. */
export function isRaw(value: unknown): value is { rawJSON: string } {
  return typeof value === 'object' && value !== null && 'rawJSON' in value && isRawJSON(value);
}

/** JSON.parse, except that numbers a double would change come out of JSON.stringify as they were written. */
export function parseExactly(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}
