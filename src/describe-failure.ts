import { GraphQLError } from 'graphql';
import { isDatabaseAway, isUnstorableText } from './database/connection-error.js';
import { AppError, type ErrorCode, errorStatus, invalidField, isErrorCode, unavailable } from './errors.js';

/** Seconds after which a caller may come back when a store is away; both reconnect well within it. */
const STORE_RETRY_SECONDS = 5;

/**
 * What a caller may be told about any error, whatever threw it and however often it was wrapped. The original is
 * kept as `cause`, which never leaves the server.
 */
export function describeFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof GraphQLError) return describeGraphqlError(error);
  if (isDatabaseAway(error)) return unavailable('database', STORE_RETRY_SECONDS, error);
  if (isUnstorableText(error)) {
    const message = 'A text holds a character that cannot be stored, such as NUL';
    return new AppError('VALIDATION_ERROR', message, { cause: error });
  }
  if (isJobStoreAway(error)) return unavailable('job queue', STORE_RETRY_SECONDS, error);
  return describeHttpError(error) ?? internal(error);
}

/** Of several failures of one operation the gravest is told, the first of equals. */
export function describeFailures(errors: readonly unknown[]): AppError {
  const [first, ...others] = errors.map(describeFailure);
  if (first === undefined) return internal(new Error('An operation failed without an error'));
  return others.reduce(
    (worst, next) => (errorStatus(next.code) > errorStatus(worst.code) ? next : worst),
    first,
  );
}

export interface DescribedGraphqlError {
  message: string;
  /** A code of errors.ts, or one of those GraphQL clients know: GRAPHQL_PARSE_FAILED, BAD_USER_INPUT ... */
  code: string;
  details: Record<string, unknown> | null;
}

/** The standard codes of Apollo's own refusals, whose messages describe the document and nothing of ours. */
const STANDARD_CODES = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** The same mapping for an entry of a GraphQL answer's `errors`. */
export function toGraphqlError(error: unknown): DescribedGraphqlError {
  const code = error instanceof GraphQLError ? error.extensions['code'] : undefined;
  if (error instanceof GraphQLError && typeof code === 'string' && STANDARD_CODES.has(code)) {
    return { message: error.message, code, details: null };
  }
  const described = describeFailure(error);
  return { message: described.message, code: described.code, details: described.details };
}

function describeGraphqlError(error: GraphQLError): AppError {
  // A refused variable may carry the scalar's own error as its original: the variable is the better story.
  const refused = refusedVariable(error);
  if (refused) return refused;
  if (error.originalError) return describeFailure(error.originalError);
  const { code, details } = error.extensions;
  if (isErrorCode(code)) {
    if (code === 'INTERNAL_ERROR') return internal(error);
    return new AppError(code, error.message, { ...(isRecord(details) && { details }), cause: error });
  }
  if (typeof code === 'string' && STANDARD_CODES.has(code)) {
    return new AppError('VALIDATION_ERROR', error.message, { cause: error });
  }
  return internal(error);
}

/**
 * graphql-js:  Variable "$input" got invalid value 1 at "input.size"; Int cannot represent ...
 * graphql-jit: Variable "$size" got invalid value 1; Expected type Int; Int cannot represent ...
 */
const REFUSED_VALUE = /^Variable "\$(\w+)" got invalid value .*?(?: at "[^".]+\.([^"]+)")?; ([\s\S]*)$/;
const MISSING_VALUE =
  /^Variable "\$(\w+)" of (?:required|non-null) type .* (?:was not provided|must not be null)/;
/** A field below the refused value: graphql-js quotes its name, graphql-jit writes its path from `value`. */
const REFUSED_FIELD = /Field "([^"]+)"|\bvalue\.([\w.]+\w)/;

function refusedVariable(error: GraphQLError): AppError | undefined {
  if (!error.message.startsWith('Variable "$')) return undefined;
  const missing = MISSING_VALUE.exec(error.message)?.[1];
  if (missing !== undefined) return invalidField(missing, 'isDefined', `${missing} is required`);
  const [, variable = '', path, reason = error.message] = REFUSED_VALUE.exec(error.message) ?? [];
  const [, quoted, dotted] = REFUSED_FIELD.exec(reason) ?? [];
  const inner = quoted ?? dotted;
  const field = path === undefined ? (inner ?? variable) : inner === undefined ? path : `${path}.${inner}`;
  return invalidField(field, constraintOf(reason), `${field}: ${reason.replace(/^Expected type \w+; /, '')}`);
}

const CONSTRAINTS: readonly [RegExp, string][] = [
  [/enum/, 'isIn'],
  [/is not defined by type/, 'whitelistValidation'],
  [/was not provided/, 'isDefined'],
  [/not to be null/, 'isNotNull'],
  [/Int cannot represent/, 'isInt'],
  [/Float cannot represent/, 'isNumber'],
  [/String cannot represent/, 'isString'],
  [/Boolean cannot represent/, 'isBoolean'],
  [/to be an object/, 'isObject'],
];

function constraintOf(reason: string): string {
  return CONSTRAINTS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'isScalar';
}

/** The MongoDB driver's names for a server it can't reach; PostgreSQL as job store is the database itself. */
const MONGO_AWAY = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoTopologyClosedError',
]);

function isJobStoreAway(error: unknown): boolean {
  return error instanceof Error && MONGO_AWAY.has(error.name);
}

const HTTP_CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'VALIDATION_ERROR',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

const HTTP_MESSAGES: Readonly<Record<string, string>> = {
  'entity.parse.failed': 'The body is not valid JSON',
  'entity.too.large': 'The body is too large',
  'encoding.unsupported': 'The content encoding is not supported',
  'charset.unsupported': 'The charset is not supported',
};

/** Errors of Express and its body parsers carry a status (http-errors). */
function describeHttpError(error: unknown): AppError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, type } = error as { status?: unknown; type?: unknown };
  const code = typeof status === 'number' ? HTTP_CODES[status] : undefined;
  if (code === undefined) return undefined;
  const message = typeof type === 'string' ? HTTP_MESSAGES[type] : undefined;
  return new AppError(code, message ?? 'The request is malformed', { cause: error });
}

function internal(cause: unknown): AppError {
  return new AppError('INTERNAL_ERROR', 'An unexpected error occurred', { cause });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
