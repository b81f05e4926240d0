import { EngineError, type EngineErrorKind } from '../engine-error.js';

const MESSAGE_LIMIT = 4_000;

/** First match wins. DuckDB starts its messages with the class of the error. */
const DUCKDB_PATTERNS: readonly { pattern: RegExp; kind: EngineErrorKind; advice?: string }[] = [
  { pattern: /max_temp_directory_size|No space left on device/, kind: 'DISK_FULL' },
  {
    pattern: /^Out of Memory Error/,
    kind: 'OUT_OF_MEMORY',
    advice: 'The task needs more memory than the run may take.',
  },
  { pattern: /^INTERRUPT Error/, kind: 'CANCELLED' },
  { pattern: /^(INTERNAL|FATAL) Error|database has been invalidated/, kind: 'INTERNAL' },
];

/** SQLSTATE classes and codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const POSTGRES_CODES: readonly { pattern: RegExp; kind?: EngineErrorKind; transient: boolean }[] = [
  { pattern: /^(08|57P0[1-3])/, kind: 'CONNECTION', transient: true },
  { pattern: /^28/, kind: 'CONNECTION', transient: false },
  { pattern: /^3D000/, kind: 'CONNECTION', transient: false },
  { pattern: /^53100/, kind: 'DISK_FULL', transient: false },
  { pattern: /^53/, kind: 'CONNECTION', transient: true },
  { pattern: /^57014/, kind: 'TIMEOUT', transient: false },
  { pattern: /^(40|55P03)/, transient: true },
];

/** Error numbers of the server: https://mariadb.com/kb/en/mariadb-error-codes/, and MySQL's Server Error Reference. */
const MYSQL_NUMBERS: readonly { numbers: readonly number[]; kind?: EngineErrorKind; transient: boolean }[] = [
  // Too many connections, shutdown, killed, aborted, handshake.
  {
    numbers: [1040, 1042, 1043, 1053, 1077, 1152, 1158, 1159, 1160, 1161, 1203, 1927],
    kind: 'CONNECTION',
    transient: true,
  },
  { numbers: [1044, 1045, 1049, 1698], kind: 'CONNECTION', transient: false },
  { numbers: [1021, 1114], kind: 'DISK_FULL', transient: false },
  { numbers: [1969, 3024], kind: 'TIMEOUT', transient: false },
  { numbers: [1205, 1213], transient: true },
];

const NETWORK_CODES =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_PREMATURE_CLOSE|PROTOCOL_CONNECTION_LOST|UND_ERR_)/;
const NETWORK_MESSAGES =
  /Connection terminated|timeout expired|timeout exceeded|server closed the connection/;

/** Brings whatever a task threw into the closed set of kinds; `otherwise` is the kind of the step it happened in. */
export function toEngineError(error: unknown, otherwise: EngineErrorKind): EngineError {
  if (error instanceof EngineError) return error;
  const message = messageOf(error).slice(0, MESSAGE_LIMIT);
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new EngineError('DISK_FULL', message, { cause: error });
  if (code === 'PRIVATE_ADDRESS') return new EngineError('CONNECTION', message, { cause: error });
  if (code && NETWORK_CODES.test(code))
    return new EngineError('CONNECTION', message, { transient: true, cause: error });
  if (isMysql(error)) return fromMysql(error, message, otherwise);
  if (code && isSqlState(error)) return fromPostgres(error, code, message, otherwise);
  if (NETWORK_MESSAGES.test(message)) {
    return new EngineError('CONNECTION', message, { transient: true, cause: error });
  }
  const known = DUCKDB_PATTERNS.find(({ pattern }) => pattern.test(message));
  if (!known) return new EngineError(otherwise, message, { cause: error });
  return new EngineError(known.kind, known.advice ? `${known.advice} ${message}` : message, { cause: error });
}

function fromPostgres(error: object, code: string, message: string, otherwise: EngineErrorKind): EngineError {
  const known = POSTGRES_CODES.find(({ pattern }) => pattern.test(code));
  const detail = 'detail' in error && typeof error.detail === 'string' ? ` ${error.detail}` : '';
  const where = 'where' in error && typeof error.where === 'string' ? ` (${error.where.split('\n')[0]})` : '';
  const text = `PostgreSQL: ${message}${detail}${where}`.slice(0, MESSAGE_LIMIT);
  return new EngineError(known?.kind ?? otherwise, text, {
    transient: known?.transient ?? false,
    cause: error,
  });
}

function fromMysql(error: MysqlError, message: string, otherwise: EngineErrorKind): EngineError {
  const known = MYSQL_NUMBERS.find(({ numbers }) => numbers.includes(error.errno));
  return new EngineError(known?.kind ?? otherwise, `MySQL: ${message}`.slice(0, MESSAGE_LIMIT), {
    transient: known?.transient ?? false,
    cause: error,
  });
}

interface MysqlError {
  errno: number;
}

function isMysql(error: unknown): error is MysqlError {
  return (
    typeof error === 'object' &&
    error !== null &&
    'sqlState' in error &&
    'errno' in error &&
    typeof error.errno === 'number'
  );
}

function messageOf(error: unknown): string {
  // A refused connection to a name with several addresses is an AggregateError with an empty message.
  if (error instanceof AggregateError && !error.message) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function isSqlState(error: unknown): error is object {
  return typeof error === 'object' && error !== null && 'severity' in error;
}
