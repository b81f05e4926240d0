import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { lockDirectory } from './directory-lock.js';
import { stopOrphanedServer } from './orphaned-server.js';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.js';
import { clusterDirectory, openCluster, type PostgresCluster, SUPERUSER } from './postgres-cluster.js';
import { freePort, PortTaken, type Postmaster, startPostmaster } from './postmaster.js';
import { findServerAccount } from './server-account.js';

const DATABASE = 'opsgraph';
const PORT_ATTEMPTS = 5;
const RESTART_DELAY_MS = { first: 100, longest: 5_000 };

export interface EmbeddedPostgresOptions {
  /** Made when it does not exist. */
  dataDir: string;
  log?: Logger | undefined;
  /** postgresql.conf settings on top of ours; `fsync: 'off'` is for tests. */
  settings?: Record<string, string>;
}

export interface EmbeddedPostgres {
  /** postgres:// with the password; the port stays the same for the life of this object. */
  readonly url: string;
  /** Of the server that runs now; a restarted one has another. */
  readonly pid: number;
  close(): Promise<void>;
}

/**
 * A real PostgreSQL over a data folder in `dataDir`, for whoever has set no DATABASE_URL. It listens on a free port of
 * 127.0.0.1 only and is started again when it dies.
 *
 * @throws with one sentence saying what to do when the directory is in use, cannot be used, or belongs to another version
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
  settings = {},
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(dataDir, { recursive: true });
  const lock = lockDirectory(dataDir);
  try {
    const account = await findServerAccount(clusterDirectory(dataDir));
    const binaries = await findPostgresBinaries(account);
    const orphans = await stopOrphanedServer(clusterDirectory(dataDir));
    if (orphans > 0) log?.warn({ processes: orphans }, 'stopped a database server that had lost its owner');
    const cluster = await openCluster(dataDir, binaries, account, settings['fsync'] !== 'off');
    const server = await superviseServer(cluster, binaries, settings, log);
    try {
      await ensureDatabase(server.urlOf('postgres'));
    } catch (error) {
      await server.close();
      throw error;
    }
    let closed: Promise<void> | undefined;
    return {
      url: server.urlOf(DATABASE),
      get pid() {
        return server.pid;
      },
      close: () => {
        closed ??= server.close().then(() => lock.close());
        return closed;
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

interface SupervisedServer {
  readonly pid: number;
  urlOf(database: string): string;
  close(): Promise<void>;
}

/** Whatever ends the server but `close` (the system short of memory, a mistaken kill) has it started again. */
async function superviseServer(
  cluster: PostgresCluster,
  binaries: PostgresBinaries,
  settings: Record<string, string>,
  log: Logger | undefined,
): Promise<SupervisedServer> {
  const closing = new AbortController();
  const first = await startOnFreePort(cluster, binaries, settings, log);
  const { port } = first;
  let current: Postmaster = first.postmaster;

  const restart = async (): Promise<void> => {
    let pause = RESTART_DELAY_MS.first;
    while (!closing.signal.aborted) {
      log?.error({ pause }, 'the embedded PostgreSQL has ended; starting it again');
      try {
        await delay(pause, undefined, { signal: closing.signal });
        await stopOrphanedServer(cluster.directory);
        current = await startPostmaster(binaries.postgres, cluster, port, settings, log);
        return;
      } catch (error) {
        if (!closing.signal.aborted) log?.error({ err: error }, 'the embedded PostgreSQL does not start');
        pause = Math.min(pause * 2, RESTART_DELAY_MS.longest);
      }
    }
  };
  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await current.exited;
      if (!closing.signal.aborted) await restart();
    }
  };
  const watching = watch();

  return {
    get pid() {
      return current.pid;
    },
    urlOf: (database) => `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/${database}`,
    close: async () => {
      closing.abort();
      await current.stop();
      await watching;
      // A restart may have been under way and have brought up one more.
      await current.stop();
    },
  };
}

async function startOnFreePort(
  cluster: PostgresCluster,
  binaries: PostgresBinaries,
  settings: Record<string, string>,
  log: Logger | undefined,
): Promise<{ postmaster: Postmaster; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return { postmaster: await startPostmaster(binaries.postgres, cluster, port, settings, log), port };
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
  // A connection that is lost without a listener ends the process; the statement under way rejects anyway.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}
