import { Client, type ClientConfig } from 'pg';
import { vettedSocket } from '../../integrations/connections/vetted-socket.js';
import type { PostgresConnectionTarget } from '../engine.js';
import { EngineError } from '../engine-error.js';
import { abortError, CANCEL_TIMEOUT_MS, cancelledOnAbort } from './abort.js';
import type { TaskContext } from './task-context.js';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * One statement may take the seven days a timeout may name, wait five minutes for a lock; a session left inside a transaction ends after ten.
 * What a load does after it waited for a lock must see what was committed meanwhile. The text formats are those the type
 * table in postgres-types.ts reads.
 */
const SESSION_SETTINGS = `
  SET statement_timeout = '7d'; SET lock_timeout = '5min'; SET idle_in_transaction_session_timeout = '10min';
  SET default_transaction_isolation = 'read committed';
  SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres';
  SET bytea_output = 'hex'; SET extra_float_digits = 1; SET standard_conforming_strings = on`;

/** Lends a client of its own for one task. */
export async function withPostgres<T>(
  context: Pick<TaskContext, 'connection' | 'signal' | 'task'>,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const target = context.connection;
  if (target?.type !== 'postgres')
    throw new EngineError('CONNECTION', `Task ${context.task.id} needs a PostgreSQL connection.`);
  const { signal } = context;
  const client = new Client(clientConfig(target));
  // A lost connection rejects the running query; the event itself would end the process.
  client.on('error', () => undefined);
  const connecting = client.connect();
  const cancellable = {
    cancel: () => cancelBackend(client, target),
    cut: () => cut(client),
    end: () => client.end(),
  };
  return cancelledOnAbort(cancellable, signal, async () => {
    await connecting;
    if (signal.aborted) throw abortError(signal);
    await client.query(SESSION_SETTINGS);
    // Ends the statement of a client that was killed; PostgreSQL 14 and newer, on systems that can watch a socket.
    await client.query("SET client_connection_check_interval = '2s'").catch(() => undefined);
    return work(client);
  });
}

function clientConfig(target: PostgresConnectionTarget): ClientConfig {
  const { host, port, database, user, password, ssl } = target;
  return {
    host,
    port,
    database,
    user,
    password: password ?? '',
    ssl: ssl === true ? { rejectUnauthorized: true } : ssl,
    application_name: 'opsgraph',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    stream: vettedSocket,
  };
}

async function cancelBackend(client: Client, target: PostgresConnectionTarget): Promise<void> {
  const pid = backendPid(client);
  if (pid === undefined) return;
  const other = new Client({
    ...clientConfig(target),
    connectionTimeoutMillis: CANCEL_TIMEOUT_MS,
    query_timeout: CANCEL_TIMEOUT_MS,
  });
  other.on('error', () => undefined);
  try {
    await other.connect();
    await other.query('SELECT pg_cancel_backend($1)', [pid]);
  } finally {
    await other.end();
  }
}

/** pg knows the backend's process id but @types/pg does not say so. */
function backendPid(client: Client): number | undefined {
  const { processID } = client as unknown as { processID?: number | null };
  return processID ?? undefined;
}

function cut(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
