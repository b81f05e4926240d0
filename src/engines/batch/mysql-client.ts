import type { Connection, ConnectionOptions, QueryResult, ResultSetHeader, RowDataPacket } from 'mysql2';
import { vettedSocket } from '../../integrations/connections/vetted-socket.js';
import type { MysqlConnectionTarget } from '../engine.js';
import { EngineError } from '../engine-error.js';
import { abortError, CANCEL_TIMEOUT_MS, cancelledOnAbort, rejectOnAbort } from './abort.js';
import type { TaskContext } from './task-context.js';

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * UTC, so that TIMESTAMP has one meaning; waits of five minutes for a lock, as with PostgreSQL; ten for a reader that
 * DuckDB keeps waiting. Strict, so that nothing is cut to fit; no backslash escapes, so that only quotes need doubling.
 */
const SESSION_SETTINGS = `SET SESSION time_zone = '+00:00', innodb_lock_wait_timeout = 300, lock_wait_timeout = 300,
  net_write_timeout = 600, net_read_timeout = 600,
  sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES'`;

/** One connection to MySQL or MariaDB; values come as the server's text. */
export interface MysqlClient {
  raw: Connection;
  /** Rows as objects, numbers and dates as text. */
  rows<Row>(sql: string): Promise<Row[]>;
  /** A statement without rows; how many it changed. */
  change(sql: string): Promise<number>;
}

/** Lends a client of its own for one task. */
export async function withMysql<T>(
  context: Pick<TaskContext, 'connection' | 'signal' | 'task'>,
  work: (client: MysqlClient) => Promise<T>,
): Promise<T> {
  const target = context.connection;
  if (target?.type !== 'mysql')
    throw new EngineError('CONNECTION', `Task ${context.task.id} needs a MySQL connection.`);
  const { signal } = context;
  const client = await open(target, CONNECT_TIMEOUT_MS, signal);
  const isCut = Promise.withResolvers<never>();
  isCut.promise.catch(() => undefined);
  const cancellable = {
    cancel: () => kill(client.raw, target),
    cut: () => {
      client.raw.destroy();
      isCut.reject(abortError(signal));
    },
    end: () => end(client.raw),
  };
  return cancelledOnAbort(cancellable, signal, async () => {
    if (signal.aborted) throw abortError(signal);
    await client.change(SESSION_SETTINGS);
    // mysql2 never answers what still waits on a connection that we cut.
    return Promise.race([work(client), isCut.promise]);
  });
}

async function open(
  target: MysqlConnectionTarget,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<MysqlClient> {
  const { createConnection } = await import('mysql2');
  const raw = createConnection(connectionOptions(target, timeoutMs));
  // A lost connection rejects the running query; the event itself would end the process.
  raw.on('error', () => undefined);
  const connecting = new Promise<void>((resolve, reject) =>
    raw.connect((error) => (error ? reject(error) : resolve())),
  );
  await rejectOnAbort(connecting, signal).catch((error: unknown) => {
    raw.destroy();
    throw error;
  });
  const query = <R extends QueryResult>(sql: string) =>
    new Promise<R>((resolve, reject) =>
      raw.query<R>(sql, (error, result) => (error ? reject(error) : resolve(result))),
    );
  return {
    raw,
    rows: async <Row>(sql: string) => (await query<RowDataPacket[]>(sql)) as Row[],
    change: async (sql) => (await query<ResultSetHeader>(sql)).affectedRows,
  };
}

function connectionOptions(target: MysqlConnectionTarget, timeoutMs: number): ConnectionOptions {
  const { host, port, database, user, password = '', ssl } = target;
  const secured = ssl === true ? {} : ssl;
  return {
    host,
    port,
    database,
    user,
    password,
    ...(secured && {
      ssl: {
        ...secured,
        rejectUnauthorized: secured.rejectUnauthorized ?? true,
        verifyIdentity: secured.rejectUnauthorized ?? true,
      },
    }),
    connectTimeout: timeoutMs,
    charset: 'utf8mb4',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    // The server could otherwise ask for files of this machine, and would count rows that it found and left as they were.
    flags: ['-LOCAL_FILES', '-FOUND_ROWS'],
    stream: () => vettedSocket().setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS).connect(port, host),
  };
}

/** Not KILL QUERY, which a statement that the work sends next would outlive. */
async function kill({ threadId }: Connection, target: MysqlConnectionTarget): Promise<void> {
  if (typeof threadId !== 'number') return;
  const expiry = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  const other = await open(target, CANCEL_TIMEOUT_MS, expiry);
  try {
    await rejectOnAbort(other.change(`KILL ${threadId}`), expiry);
  } finally {
    other.raw.destroy();
  }
}

function end(connection: Connection): Promise<void> {
  return new Promise((resolve) => connection.end(() => resolve()));
}
