import { MongoBackend } from '@agendajs/mongo-backend';
import { PostgresBackend } from '@agendajs/postgres-backend';
import type { JobRepository } from 'agenda';
import { MongoClient } from 'mongodb';
import { Client, Pool } from 'pg';
import { FrugalClient } from '../database/frugal-client.js';

export type JobStoreOptions =
  | { kind: 'postgres'; url: string; poolSize: number }
  | { kind: 'mongo'; url: string; poolSize: number };

/** Where Agenda keeps its rows; every call ends within seconds, with an answer or an error. */
export interface JobStore {
  readonly repository: JobRepository;
  /** Makes tables and indexes where they are missing; may be called again after it failed. */
  prepare(): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 5_000;
/** A schema of its own, where migrations and entities of the application do not look. */
const SCHEMA = 'jobs';
const COLLECTION = 'agendaJobs';
/** Any number, as long as every node takes the same one: 'jobs' in ASCII. */
const PREPARE_LOCK = 0x6a6f6273;

interface Settings {
  url: string;
  poolSize: number;
  /** A connection broke; whether the store is away is for a ping to find out. */
  onLoss(error: Error): void;
}

export function openJobStore({ kind, ...settings }: JobStoreOptions & Pick<Settings, 'onLoss'>): JobStore {
  return kind === 'postgres' ? openPostgresStore(settings) : openMongoStore(settings);
}

function openPostgresStore({ url, poolSize, onLoss }: Settings): JobStore {
  const connection = {
    connectionString: url,
    application_name: 'opsgraph-jobs',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
  const pool = new Pool({
    ...connection,
    max: poolSize,
    Client: FrugalClient,
    options: `-c search_path=${SCHEMA}`,
    query_timeout: QUERY_TIMEOUT_MS,
    statement_timeout: QUERY_TIMEOUT_MS,
  });
  // A restart of PostgreSQL is an 'error' event on the pool and on each client, and one without a listener ends the process.
  pool.on('error', onLoss);
  pool.on('connect', (client) => client.on('error', onLoss));
  // Agenda's own channel sends four NOTIFYs per job and is silent between two processes that run no jobs; ours wakes
  // instead (src/jobs/wake-notifications.ts).
  const backend = new PostgresBackend({ pool, disableNotifications: true });

  return {
    repository: backend.repository,
    /** CREATE ... IF NOT EXISTS collides with itself when two nodes start together. */
    async prepare() {
      const guard = new Client({ ...connection, statement_timeout: QUERY_TIMEOUT_MS });
      guard.on('error', onLoss);
      await guard.connect();
      try {
        await guard.query(`SELECT pg_advisory_lock(${PREPARE_LOCK})`);
        await guard.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
        await backend.repository.connect();
        // Agenda unlocks a finished job, then removes it; a worker killed between the two leaves this.
        await pool.query('DELETE FROM agenda_jobs WHERE next_run_at IS NULL AND locked_at IS NULL');
      } finally {
        await guard.end();
      }
    },
    async ping() {
      await pool.query('SELECT 1');
    },
    close: () => pool.end(),
  };
}

function openMongoStore({ url, poolSize, onLoss }: Settings): JobStore {
  const client = new MongoClient(url, {
    appName: 'opsgraph-jobs',
    maxPoolSize: poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    serverSelectionTimeoutMS: CONNECT_TIMEOUT_MS,
    waitQueueTimeoutMS: QUERY_TIMEOUT_MS,
    socketTimeoutMS: QUERY_TIMEOUT_MS,
  });
  client.on('error', onLoss);
  const backend = new MongoBackend({ mongo: client.db(), collection: COLLECTION, ensureIndex: true });

  return {
    repository: backend.repository,
    async prepare() {
      await backend.repository.connect();
      await client.db().collection(COLLECTION).deleteMany({ nextRunAt: null, lockedAt: null });
    },
    async ping() {
      await client.db().command({ ping: 1 });
    },
    close: () => client.close(),
  };
}
