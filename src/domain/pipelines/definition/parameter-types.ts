import type { ParameterType } from './pipeline-definition.js';

/** A value of a known type in the one spelling every place it goes to starts from. */
export interface TypedValue {
  type: ParameterType;
  text: string;
}

interface TypeRule {
  /** What a value of the type looks like, for a person. */
  expected: string;
  /** The one spelling of a value, or undefined when it is none of the type. */
  read(value: unknown): string | undefined;
}

const MIN_BIGINT = -(2n ** 63n);
const MAX_BIGINT = 2n ** 63n - 1n;
const MAX_TEXT = 10_000;
/** With a sign, a point, and zeros to spare. */
const MAX_NUMERAL = 100;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:\d\d)?$/;
const DECIMAL = /^([+-])?(\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;
const MAX_DIGITS = 38;

const TYPES: Readonly<Record<ParameterType, TypeRule>> = {
  STRING: { expected: 'text of at most 10,000 characters', read: readText },
  INTEGER: { expected: 'a whole number of 64 bits', read: readInteger },
  DECIMAL: { expected: 'a number of at most 38 digits', read: readDecimal },
  BOOLEAN: { expected: 'true or false', read: readBoolean },
  DATE: { expected: 'a date like 2026-11-21', read: readDate },
  TIMESTAMP: { expected: 'an instant like 2026-11-21T06:30:00Z', read: readTimestamp },
};

export const PARAMETER_TYPES = Object.keys(TYPES) as readonly ParameterType[];

/** @returns undefined when the value is none of the type */
export function readTyped(type: ParameterType, value: unknown): TypedValue | undefined {
  const text = TYPES[type].read(value);
  return text === undefined ? undefined : { type, text };
}

export function expectedOf(type: ParameterType): string {
  return TYPES[type].expected;
}

/** As JSON has it: a number or a boolean where one holds the value exactly, else text. */
export function nativeValue({ type, text }: TypedValue): string | number | boolean {
  if (type === 'BOOLEAN') return text === 'true';
  if (type !== 'INTEGER' && type !== 'DECIMAL') return text;
  const number = Number(text);
  return TYPES[type].read(number) === text ? number : text;
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' &&
    value.length <= MAX_TEXT &&
    value.isWellFormed() &&
    !value.includes('\0')
    ? value
    : undefined;
}

function readInteger(value: unknown): string | undefined {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return undefined;
  const text = numeralOf(value);
  if (text === undefined || !/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const number = BigInt(text.replace('+', ''));
  return number >= MIN_BIGINT && number <= MAX_BIGINT ? String(number) : undefined;
}

/** Without an exponent, which 1e-7 has in JSON, and with the zeros behind the point that were written. */
function readDecimal(value: unknown): string | undefined {
  const match = DECIMAL.exec(numeralOf(value) ?? '');
  if (!match) return undefined;
  const [, sign, before = '', behind = '', exponent = '0'] = match;
  const point = before.length + Number(exponent);
  if (before + behind === '' || Math.abs(point) > MAX_NUMERAL) return undefined;
  const digits = (before + behind)
    .padEnd(point, '0')
    .padStart(before.length + behind.length - Math.min(point, 0), '0');
  const whole = digits.slice(0, Math.max(point, 0)).replace(/^0+/, '');
  const fraction = digits.slice(Math.max(point, 0));
  if (whole.length + fraction.length > MAX_DIGITS) return undefined;
  const text = `${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`;
  return sign === '-' && /[1-9]/.test(digits) ? `-${text}` : text;
}

function numeralOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.length <= MAX_NUMERAL ? value.trim() : undefined;
}

function readBoolean(value: unknown): string | undefined {
  return value === true || value === 'true'
    ? 'true'
    : value === false || value === 'false'
      ? 'false'
      : undefined;
}

function readDate(value: unknown): string | undefined {
  if (typeof value !== 'string' || !DATE.test(value)) return undefined;
  const date = new Date(`${value}T00:00:00Z`);
  // The 30th of February is accepted by the constructor and becomes a day of March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value) ? value : undefined;
}

/** Without an offset it is UTC. Of milliseconds, or of microseconds, which a Date does not hold. */
function readTimestamp(value: unknown): string | undefined {
  const match = typeof value === 'string' ? TIMESTAMP.exec(value) : null;
  if (!match || readDate(match[1]) === undefined) return undefined;
  const [, date, minutes, seconds = '', fraction = '', offset = 'Z'] = match;
  const instant = new Date(`${date}T${minutes}${seconds}${offset}`);
  if (Number.isNaN(instant.getTime())) return undefined;
  const digits = fraction.padEnd(6, '0').replace(/000$/, '');
  return instant.toISOString().replace(/\.\d+Z$/, `.${digits}Z`);
}
