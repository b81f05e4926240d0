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

/** What may be a whole number beyond 64 bits: text without it is not looked at value by value. */
const WIDE_NUMBER = /\d{19}/;
const LEAST = -(2n ** 63n);
const GREATEST = 2n ** 64n - 1n;

/** By column, the type that keeps its values as they were written. */
export type KeepingTypes = Map<string, 'VARCHAR' | 'JSON'>;

/**
 * Adds the columns whose values are, or hold, whole numbers that DuckDB would recognise as doubles. `text` is what the
 * rows were parsed from, by parseExactly.
 */
export function noteWideColumns(found: KeepingTypes, text: string, rows: readonly object[]): void {
  if (!WIDE_NUMBER.test(text)) return;
  for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
    if (isWide(value)) found.set(name, found.get(name) ?? 'VARCHAR');
    else if (holdsWide(value)) found.set(name, 'JSON');
  }
}

function isWide(value: unknown): boolean {
  if (!isRaw(value) || !/^-?\d+$/.test(value.rawJSON)) return false;
  const number = BigInt(value.rawJSON);
  return number < LEAST || number > GREATEST;
}

function holdsWide(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isRaw(value) ? isWide(value) : Object.values(value).some(holdsWide);
}
