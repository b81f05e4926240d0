import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config.js';
import type { Services } from '../context.js';
import { startEmbeddedPostgres } from '../database/embedded-postgres.js';
import { migrate } from '../database/migrate.js';
import { nativePool, openConnections } from '../database/native-pool.js';
import { createOrm } from '../database/orm.js';
import { requireWall, type ServingRole } from '../database/roles.js';
import { seedConnections } from '../domain/demo/seed-connections.js';
import { createItsmTokens, seedDemo } from '../domain/identity/index.js';
import { createRunFeed } from '../domain/runs/run-feed.js';
import { forfeitLeases } from '../domain/runs/run-lease.js';
import { sweepRuns } from '../domain/runs/sweep-runs.js';
import { startDeliveryWorker } from '../domain/webhooks/index.js';
import { BatchEngine } from '../engines/batch/batch-engine.js';
import type { Engine, EngineKind } from '../engines/engine.js';
import { JdbcEngine } from '../engines/jdbc/jdbc-engine.js';
import { REQUEST_ROLE, SYSTEM_ROLE } from '../entities/row-security.js';
import { createEventFeed } from '../events/event-feed.js';
import { createSequencer } from '../events/sequencer.js';
import { createWakeChannel } from '../events/wake-channel.js';
import { openMailer } from '../integrations/smtp/open-mailer.js';
import { createSingleSignOn } from '../integrations/sso/single-sign-on.js';
import { createWebhookSender } from '../integrations/webhooks/webhook-sender.js';
import { jobs } from '../jobs/index.js';
import { createJobRunner } from '../jobs/job-runner.js';
import { createSecretBox } from '../secret-box.js';
import type { OnClose } from './on-close.js';
import { openPlatformTokens } from './open-platform-tokens.js';

/** Of the 10 s a stopping process has: what running jobs may still use. */
const DRAIN_JOBS_MS = 4_000;
/** And what attempts at webhooks may; then another worker makes them. */
const DRAIN_DELIVERIES_MS = 2_000;

export interface OpenServices {
  services: Services;
  /** Of requests. */
  pool: Pool;
  /** Once requests can be answered. */
  startWork(): Promise<void>;
}

/** What lives as long as the process, from the database up. */
export async function openServices(
  config: Config,
  log: Logger,
  now: () => Date,
  onClose: OnClose,
): Promise<OpenServices> {
  await mkdir(path.join(config.dataDir, 'files'), { recursive: true });
  const databaseUrl = await openDatabase(config, log, onClose);
  const { orm, tenantOrm } = await openPools(databaseUrl, config.databasePoolSize, log, onClose);
  const pool = await nativePool(orm);

  const wake = createWakeChannel({ databaseUrl, log });
  onClose('wake channel', () => wake.close());
  await wake.connected();
  const sequencer = createSequencer({ databaseUrl, wake, log });
  onClose('sequencer', () => sequencer.close());
  const events = await createEventFeed({ orm, wake, log });
  onClose('event feed', () => events.close());
  const runs = createRunFeed({ pool, wake, log });
  onClose('run feed', () => runs.close());

  const secrets = createSecretBox(config);
  const itsmTokens = createItsmTokens({ orm, secrets, wake, now, log });
  onClose('token keys', () => itsmTokens.close());
  const platformTokens = openPlatformTokens({ config, orm, secrets, wake, now, log }, onClose);
  const singleSignOn = createSingleSignOn({ allowedHosts: config.ssoAllowedHosts, now });
  onClose('single sign-on', () => singleSignOn.close());
  const webhookSender = createWebhookSender({
    allowedHosts: config.webhookAllowedHosts,
    caFile: config.webhookCaFile,
  });
  onClose('webhook connections', () => webhookSender.close());
  const engines: readonly Engine[] = [await openBatch(config), new JdbcEngine()];
  const base = {
    config,
    log,
    orm,
    tenantOrm,
    now,
    wake,
    events,
    runs,
    engines: new Map<EngineKind, Engine>(engines.map((engine) => [engine.kind, engine])),
    secrets,
    itsmTokens,
    platformTokens,
    mail: openMailer({ ...config, log }),
    singleSignOn,
    webhookSender,
  };
  const runner = createJobRunner({
    definitions: jobs,
    services: base,
    store: storeOf(config, databaseUrl),
    concurrency: config.jobConcurrency,
    role: config.role,
  });
  onClose('jobs', async () => {
    await runner.drain(DRAIN_JOBS_MS);
    await runner.close();
  });
  const services: Services = { ...base, jobs: runner };
  if (config.seedDemo) {
    const tenants = await seedDemo(services);
    if (config.databaseUrl === undefined) await seedConnections(services, tenants, databaseUrl);
  }
  const startWork = async () => {
    if (config.databaseUrl === undefined) await forfeitLeases(pool);
    await runner.start();
    if (config.role === 'api') return;
    const deliveries = startDeliveryWorker({ services, pool });
    onClose('webhook deliveries', () => deliveries.close(DRAIN_DELIVERIES_MS));
    await sweepRuns(services).catch((error: unknown) =>
      log.warn({ err: error }, 'waiting runs not enqueued yet'),
    );
  };
  return { services, pool: await nativePool(tenantOrm), startWork };
}

/** Of the connections for requests, how many more there are for what belongs to no tenant: jobs, logins, feeds. */
const SYSTEM_SHARE = 0.5;
const MIN_SYSTEM_CONNECTIONS = 4;
/** Of each pool, open from the start. */
const READY_SHARE = 0.5;

async function openPools(databaseUrl: string, requestSize: number, log: Logger, onClose: OnClose) {
  const openPool = (poolSize: number, role: ServingRole) =>
    createOrm({ databaseUrl, poolSize, readyConnections: readyOf(poolSize), log, role });
  const tenantOrm = await openPool(requestSize, REQUEST_ROLE);
  onClose('database pool of requests', () => tenantOrm.close(true));
  const systemSize = Math.max(MIN_SYSTEM_CONNECTIONS, Math.ceil(requestSize * SYSTEM_SHARE));
  const orm = await openPool(systemSize, SYSTEM_ROLE);
  onClose('database pool of the system', () => orm.close(true));
  await migrate(orm);
  await requireWall(tenantOrm);
  await openConnections(tenantOrm, readyOf(requestSize));
  await openConnections(orm, readyOf(systemSize));
  return { orm, tenantOrm };
}

const readyOf = (poolSize: number) => Math.ceil(poolSize * READY_SHARE);

async function openDatabase(config: Config, log: Logger, onClose: OnClose): Promise<string> {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, log });
  onClose('embedded PostgreSQL', () => embedded.close());
  return embedded.url;
}

/** Loaded only where there is a Trino: its client brings an HTTP client of its own. */
async function openBatch({ trino }: Config): Promise<Engine> {
  if (!trino) return new BatchEngine();
  const { TrinoOrDuckDbEngine } = await import('../engines/trino/trino-or-duckdb.js');
  return new TrinoOrDuckDbEngine(trino);
}

function storeOf(config: Config, databaseUrl: string) {
  return config.mongodbUrl === undefined
    ? ({ kind: 'postgres', url: databaseUrl } as const)
    : ({ kind: 'mongo', url: config.mongodbUrl } as const);
}
