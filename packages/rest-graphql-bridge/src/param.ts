/** A JSON Schema fragment as OpenAPI 3.1 takes it. */
export type SchemaObject = { readonly [key: string]: unknown };

/** Why a raw string was refused. */
export interface Refusal {
  readonly constraint: string;
  readonly message: string;
}

/** What a reader returns: the value, or why there is none. */
export type Reading<T> =
  | { readonly value: T; readonly refusal?: undefined }
  | { readonly refusal: Refusal; readonly value?: undefined };

/** A typed parser of one path, query or header parameter, which also describes itself to OpenAPI. */
export interface Param<T> {
  readonly read: (raw: string) => Reading<NonNullable<T>>;
  readonly schema: SchemaObject;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly fallback: T | undefined;
  readonly isList: boolean;
}

/** The type a parameter has inside `variables()`. */
export type ParamValue<P> = P extends Param<infer T> ? T : never;

export interface ParamOptions<T> {
  readonly description?: string;
  /** Used when the parameter is absent; the value is then never undefined. */
  readonly default?: T;
  /** An absent parameter is refused with constraint isDefined. Path parameters are always required. */
  readonly required?: boolean;
  readonly example?: T;
}

type Present<T, O> = O extends { readonly default: unknown } | { readonly required: true }
  ? T
  : T | undefined;

export interface NumberOptions extends ParamOptions<number> {
  readonly min?: number;
  readonly max?: number;
}

export interface StringOptions extends ParamOptions<string> {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: RegExp;
}

export interface ListOptions<T> extends ParamOptions<readonly T[]> {
  readonly maxItems?: number;
}

/** Bound on a list parameter when the row names none. */
const MAX_LIST_ITEMS = 1000;
const INT = /^-?(?:0|[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
// RFC 3339 section 5.6; a date alone is refused because it names no instant.
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const BOOLEANS: { readonly [raw: string]: boolean } = { true: true, false: false, 1: true, 0: false };

function make<T, O extends ParamOptions<T>>(
  options: O | undefined,
  schema: SchemaObject,
  read: (raw: string) => Reading<T>,
  isList = false,
): Param<Present<T, O>> {
  const described: { [key: string]: unknown } = { ...schema };
  if (options?.default !== undefined) described.default = options.default;
  if (options?.example !== undefined) described.examples = [options.example];
  return {
    read: read as Param<Present<T, O>>['read'],
    schema: described,
    description: options?.description,
    required: options?.required === true,
    fallback: options?.default as Present<T, O> | undefined,
    isList,
  };
}

const refuse = (constraint: string, message: string) => ({ refusal: { constraint, message } });

function defined(entries: SchemaObject): SchemaObject {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}

function bounded(value: number, { min, max }: NumberOptions): Reading<number> {
  if (min !== undefined && value < min) return refuse('min', `must not be less than ${min}`);
  if (max !== undefined && value > max) return refuse('max', `must not be greater than ${max}`);
  return { value };
}

function int<const O extends NumberOptions>(options?: O) {
  const limits: NumberOptions = options ?? {};
  const schema = defined({ type: 'integer', minimum: limits.min, maximum: limits.max });
  return make<number, O>(options, schema, (raw) => {
    const value = INT.test(raw) ? Number(raw) : Number.NaN;
    return Number.isSafeInteger(value) ? bounded(value, limits) : refuse('isInt', 'must be an integer');
  });
}

function number<const O extends NumberOptions>(options?: O) {
  const limits: NumberOptions = options ?? {};
  const schema = defined({ type: 'number', minimum: limits.min, maximum: limits.max });
  return make<number, O>(options, schema, (raw) => {
    const value = NUMBER.test(raw) ? Number(raw) : Number.NaN;
    return Number.isFinite(value) ? bounded(value, limits) : refuse('isNumber', 'must be a number');
  });
}

function string<const O extends StringOptions>(options?: O) {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern }: StringOptions = options ?? {};
  const schema = defined({
    type: 'string',
    minLength: options?.minLength,
    maxLength: options?.maxLength,
    pattern: pattern?.source,
  });
  return make<string, O>(options, schema, (raw) => {
    if (raw.length < minLength) return refuse('minLength', `must have at least ${minLength} characters`);
    if (raw.length > maxLength) return refuse('maxLength', `must have at most ${maxLength} characters`);
    if (pattern && raw.search(pattern) < 0) return refuse('matches', `must match ${pattern.source}`);
    return { value: raw };
  });
}

function boolean<const O extends ParamOptions<boolean>>(options?: O) {
  return make<boolean, O>(options, { type: 'boolean' }, (raw) => {
    const value = Object.hasOwn(BOOLEANS, raw) ? BOOLEANS[raw] : undefined;
    return value === undefined ? refuse('isBoolean', 'must be true or false') : { value };
  });
}

function isRealDay([, year, month, day]: RegExpExecArray): boolean {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function dateTime<const O extends ParamOptions<string>>(options?: O) {
  return make<string, O>(options, { type: 'string', format: 'date-time' }, (raw) => {
    const match = DATE_TIME.exec(raw);
    // `+` is a blank in a query string, so an unescaped offset arrives as "T10:00:00 02:00" and is refused.
    const valid = match !== null && isRealDay(match) && !Number.isNaN(Date.parse(raw));
    return valid ? { value: raw } : refuse('isDateTime', 'must be an RFC 3339 date-time');
  });
}

function uuid<const O extends ParamOptions<string>>(options?: O) {
  return make<string, O>(options, { type: 'string', format: 'uuid' }, (raw) =>
    UUID.test(raw) ? { value: raw.toLowerCase() } : refuse('isUuid', 'must be a UUID'),
  );
}

function oneOf<const V extends string, const O extends ParamOptions<V>>(values: readonly V[], options?: O) {
  const known = new Map<string, V>(values.map((value) => [value, value]));
  return make<V, O>(options, { type: 'string', enum: values }, (raw) => {
    const value = known.get(raw);
    return value === undefined ? refuse('isIn', `must be one of ${values.join(', ')}`) : { value };
  });
}

function list<T, const O extends ListOptions<NonNullable<T>>>(item: Param<T>, options?: O) {
  const maxItems = options?.maxItems ?? MAX_LIST_ITEMS;
  const schema = { type: 'array', items: item.schema, maxItems };
  const readAll = (raw: string): Reading<readonly NonNullable<T>[]> => {
    const values: NonNullable<T>[] = [];
    for (const part of raw.split(',')) {
      if (part === '') continue;
      if (values.length === maxItems) return refuse('maxItems', `must have at most ${maxItems} items`);
      const reading = item.read(part);
      if (reading.refusal) return reading;
      values.push(reading.value);
    }
    return { value: values };
  };
  return make<readonly NonNullable<T>[], O>(options, schema, readAll, true);
}

/**
 * Typed parsers for `params`, `query` and `headers` of a row.
 * `list` takes comma-separated and repeated values alike; `dateTime` hands on the RFC 3339 string as it came.
 */
export const param = { int, number, string, boolean, dateTime, uuid, oneOf, list };
