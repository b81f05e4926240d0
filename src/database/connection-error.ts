/** https://www.postgresql.org/docs/18/errcodes-appendix.html; class 08 is connection exceptions as a whole. */
const AWAY_SQL_STATES = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting up, shutting down, recovering
  '53300', // too_many_connections
]);

/** In class 08, but not an outage: a text with a NUL in it, which PostgreSQL cannot be told. */
const PROTOCOL_VIOLATION = '08P01';
const UNSTORABLE_TEXT = new Set([PROTOCOL_VIOLATION, '22021', '22P05']);

const AWAY_NODE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** pg and pg-pool have no code for these (pg/lib/client.js, pg-pool/index.js). */
const AWAY_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
];

/**
 * Whether a statement failed because PostgreSQL cannot be reached right now, rather than because of the statement. The
 * pool connects anew by itself: the same statement may succeed a moment later.
 *
 * MikroORM's exceptions copy code and message of the error they wrap. An error's `cause` is not looked at: it may tell of
 * somebody else's server.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && code !== '') {
    return (
      (code.startsWith('08') && code !== PROTOCOL_VIOLATION) ||
      AWAY_SQL_STATES.has(code) ||
      AWAY_NODE_CODES.has(code)
    );
  }
  return typeof message === 'string' && AWAY_MESSAGES.some((start) => message.startsWith(start));
}

/** Whether a statement failed because a text in it holds what PostgreSQL cannot store: a NUL, or half a surrogate pair. */
export function isUnstorableText(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNSTORABLE_TEXT.has(String(error.code));
}
