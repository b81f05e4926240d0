/** A number of sixteen digits or more may be another one as a double. */
const LONG_NUMBER = /[\d.]{16}|\d[eE]/;

/** JSON.rawJSON and the third argument of revivers: ECMAScript 2026, in Node since 21, not yet in TypeScript's library. */
const { rawJSON, parse } = JSON as unknown as {
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
};

/** JSON.parse, except that numbers a double would change come out of JSON.stringify as they were written. */
export function parseExactly(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}
