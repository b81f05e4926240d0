import './remember-debuggers.js';
import { Agenda, type JobRepository } from 'agenda';
import type { Config } from '../config.js';
import type { JobQueue, Services } from '../context.js';
import { unavailable } from '../errors.js';
import { boundRepository } from './bounded-repository.js';
import type { JobDefinition } from './define-job.js';
import { type JobStoreOptions, openJobStore } from './job-store.js';
import { delayBeforeRetry, runJob } from './run-job.js';
import { watchStore } from './store-health.js';
import { WakeNotifications } from './wake-notifications.js';

export interface JobRunner extends JobQueue {
  /** Begins to run jobs, unless the role is `api`; returns also while the store is away, and begins when it is back. */
  start(): Promise<void>;
  /** Takes no more jobs and gives those under way `ms`, then aborts them; resolves to how many did not end. */
  drain(ms: number): Promise<number>;
  /** Drains without patience, if that was not done before. */
  close(): Promise<void>;
}

export interface JobRunnerOptions {
  definitions: readonly JobDefinition[];
  store: { kind: JobStoreOptions['kind']; url: string };
  services: Omit<Services, 'jobs'>;
  /** Jobs this process runs at a time, over all definitions. */
  concurrency: number;
  role: Config['role'];
}

/** Due times (retries, recurring jobs, expired locks) are looked for this often; fresh jobs are woken at once. */
const POLL_MS = 1_000;
const ENQUEUE_TIMEOUT_MS = 3_000;
const RETRY_AFTER_SECONDS = 5;
/** What an aborted job has to clean up after itself. */
const ABORT_GRACE_MS = 1_000;
/**
 * For half of a lock's life, half a second at least, Agenda holds the process open after a job that is done, by a timer it
 * neither clears nor unrefs. Locks are kept by runJob() and expire in the repository; Agenda knows of none that could.
 */
const LOCK_LIFETIME_FOR_AGENDA_MS = 1;
/** Bounds are kept by the repository; Agenda must never be the one that makes a taken job wait. */
const NO_LIMIT = 10_000;

/** Agenda as the clock: the only module that knows it runs the jobs. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { definitions, services, concurrency, role } = options;
  const log = services.log.child({ room: 'jobs' });
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  if (byName.size < definitions.length) throw new TypeError('Two jobs have the same name');
  const store = openJobStore({
    ...options.store,
    poolSize: concurrency + 3,
    onLoss: () => void health.look(),
  });
  const notifications = new WakeNotifications(services.wake, role === 'api' ? [] : [...byName.keys()]);
  const repository = boundRepository(
    store.repository,
    { total: concurrency, perJob: concurrencies(definitions, concurrency) },
    new Map(definitions.map(({ name, lockLifetimeMs }) => [name, lockLifetimeMs])),
    (jobName) => notifications.due(jobName),
  );
  const agenda = createAgenda(repository, notifications);
  const ending = new AbortController();
  let prepared = false;
  let wanted = false;
  let begun = false;
  let beginning: Promise<void> | undefined;
  let draining: Promise<number> | undefined;
  let closing: Promise<void> | undefined;

  const runner: JobRunner = {
    async enqueue(name, payload) {
      const definition = byName.get(name);
      if (!definition) throw new TypeError(`No job is called ${name}`);
      definition.check(payload);
      await health.known();
      if (!health.healthy()) throw unavailable('job queue', RETRY_AFTER_SECONDS);
      try {
        await within(agenda.now(name, payload), ENQUEUE_TIMEOUT_MS);
      } catch (error) {
        health.report(error);
        throw unavailable('job queue', RETRY_AFTER_SECONDS, error);
      }
    },
    healthy: () => health.healthy(),
    async start() {
      wanted = role !== 'api';
      await health.look();
    },
    drain(ms) {
      draining ??= drain(ms);
      return draining;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };

  for (const definition of definitions) {
    agenda.define<unknown>(
      definition.name,
      (job) =>
        runJob(definition, job, {
          services: { ...services, jobs: runner },
          ending: ending.signal,
          log,
          touch: () => repository.saveJobState(job.attrs, undefined),
        }),
      {
        concurrency: NO_LIMIT,
        lockLifetime: LOCK_LIFETIME_FOR_AGENDA_MS,
        backoff: ({ attempt, error }) => delayBeforeRetry(definition, attempt, error),
      },
    );
  }
  for (const emitter of [agenda, notifications])
    emitter.on('error', (error: Error) =>
      log[health.healthy() ? 'warn' : 'debug']({ err: error }, 'job store'),
    );

  const health = watchStore(async () => {
    if (!prepared) await prepare();
    if (wanted && !begun && !draining) {
      beginning = begin();
      await beginning;
    }
    await store.ping();
  }, log);

  async function prepare(): Promise<void> {
    await store.prepare();
    await notifications.connect();
    prepared = true;
  }

  async function begin(): Promise<void> {
    await agenda.start();
    for (const { name, every } of definitions)
      if (every !== undefined) await agenda.every(every, name, {}, { timezone: 'UTC' });
    begun = true;
    log.info({ concurrency, jobs: byName.size }, 'running jobs');
  }

  async function drain(ms: number): Promise<number> {
    await beginning?.catch(() => undefined);
    await repository.stopTaking();
    const inTime = await endsWithin(repository.drained(), ms);
    ending.abort(new Error('the worker ends'));
    if (!inTime) await endsWithin(repository.drained(), ABORT_GRACE_MS);
    await agenda.stop(false).catch((error) => log.warn({ err: error }, 'job runner did not stop cleanly'));
    // Agenda took its notifications down with it, but what was interrupted here, and what requests still under way
    // enqueue, is for other workers.
    if (prepared) await notifications.connect();
    for (const name of byName.keys()) notifications.announce(name);
    if (repository.taken() > 0)
      log.warn({ jobs: repository.taken() }, 'jobs still running; they are repeated once their locks expire');
    return repository.taken();
  }

  async function close(): Promise<void> {
    await runner.drain(0);
    await health.close();
    await notifications.disconnect();
    await store.close();
  }

  return runner;
}

function createAgenda(repository: JobRepository, notificationChannel: WakeNotifications): Agenda {
  // The constructor connects its back end and lets a rejection go unhandled, which ends the process; ours is connected
  // by prepare(), again and again until it works.
  const backend = {
    name: 'opsgraph',
    repository,
    ownsConnection: false,
    connect: async () => undefined,
    disconnect: async () => undefined,
  };
  return new Agenda({
    backend,
    notificationChannel,
    processEvery: POLL_MS,
    maxConcurrency: NO_LIMIT,
    removeOnComplete: true,
  });
}

/** How many of each job one worker runs at a time. */
function concurrencies(definitions: readonly JobDefinition[], total: number): Map<string, number> {
  return new Map(
    definitions.map(({ name, concurrency = total, isLong }) => [
      name,
      isLong ? Math.max(1, Math.min(concurrency, total - 1)) : concurrency,
    ]),
  );
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

async function endsWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  return within(
    promise.then(() => true),
    ms,
  ).catch(() => false);
}
