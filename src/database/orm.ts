import { Socket } from 'node:net';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { entities } from '../entities/index.js';
import { migrations } from '../entities/migrations/index.js';
import { buildWall } from '../entities/row-security.js';
import { FrugalClient } from './frugal-client.js';
import type { ServingRole } from './roles.js';
import { SteadyDriver } from './steady-driver.js';

export interface OrmOptions {
  databaseUrl: string;
  /** Connections this process may hold open. */
  poolSize: number;
  /** Of those, how many stay open though nobody uses them (openConnections() opens them); 0 by default. */
  readyConnections?: number;
  log?: Logger | undefined;
  /** Whom each connection acts as; without one as the role of the URL, which owns the tables. */
  role?: ServingRole;
  /** 0 for none, which only migrations may ask for. */
  statementTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** A transaction that forgot its end holds locks and holds back vacuum. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
/** The server ends a slow statement or an idle transaction first: so much silence means that nobody is there any more. */
const SILENCE_MS = 35_000;

/** Opens no connection yet: a database that is away shows itself at the first query, and again is there at a later one. */
export async function createOrm(options: OrmOptions): Promise<MikroORM> {
  return MikroORM.init(ormConfiguration(options));
}

export function ormConfiguration({
  databaseUrl,
  poolSize,
  readyConnections = 0,
  log,
  role,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
}: OrmOptions) {
  return defineConfig({
    driver: SteadyDriver,
    clientUrl: databaseUrl,
    entities,
    discovery: {
      afterDiscovered: (storage) => {
        for (const meta of storage.getAll().values()) buildWall(meta);
      },
    },
    namingStrategy: UnderscoreNamingStrategy,
    // Inside a transaction of one ORM, `orm.em.fork()` of another of the same name would be a fork of the first one's.
    contextName: role ?? 'default',
    ensureDatabase: false,
    colors: false,
    logger: (message) => log?.warn(message),
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations,
      snapshot: false,
      silent: true,
    },
    // Agenda's tables: made and changed by the job store itself (src/jobs/job-store.ts).
    schemaGenerator: { ignoreSchema: ['jobs'] },
    pool: { min: readyConnections, max: poolSize },
    driverOptions: {
      // pg reads from the URL what MikroORM does not: sslmode and the other parameters after the question mark.
      connectionString: databaseUrl,
      application_name: 'opsgraph',
      options: `-c timezone=UTC${role === undefined ? '' : ` -c role=${role}`}`,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: statementTimeoutMs,
      stream: () => (statementTimeoutMs === 0 ? new Socket() : impatientSocket()),
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      keepAlive: true,
      Client: FrugalClient,
      onPoolCreated: (pool: Pool) => surviveLostConnections(pool, log),
    },
  });
}

/**
 * pg's own query_timeout leaves the connection in use with the answer still to come, and the next query of the pool would
 * find itself inside somebody else's transaction.
 */
function impatientSocket(): Socket {
  const socket = new Socket();
  return socket.setTimeout(SILENCE_MS, () => {
    const error = new Error(`The database has been silent for ${SILENCE_MS} ms`);
    socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  });
}

/**
 * A restart of PostgreSQL is an 'error' event on every connection, and one without a listener ends the process. The
 * query in flight rejects on its own and the pool drops the connection.
 */
function surviveLostConnections(pool: Pool, log: Logger | undefined): void {
  // The pool tells of idle connections once more, with the whole client in the error.
  pool.on('error', () => undefined);
  pool.on('connect', (client) =>
    client.on('error', (error) => {
      // While it ends, our own PostgreSQL may be quicker than the goodbye.
      if (!pool.ending) log?.warn({ err: error }, 'database connection lost');
    }),
  );
}
