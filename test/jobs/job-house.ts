import { type Logger, pino } from 'pino';
import { z } from 'zod';
import type { Services } from '../../src/context.js';
import { createWakeChannel, type OpenWakeChannel } from '../../src/events/wake-channel.js';
import { defineJob, type JobDefinition, type JobTools } from '../../src/jobs/define-job.js';
import { createJobRunner, type JobRunner, type JobRunnerOptions } from '../../src/jobs/job-runner.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

export interface JobNode {
  runner: JobRunner;
  wake: OpenWakeChannel;
  lines: Record<string, unknown>[];
  close(): Promise<void>;
}

/** One process's worth of jobs: a wake channel and a runner of its own. */
export async function openJobNode(options: {
  databaseUrl: string;
  definitions: readonly JobDefinition[];
  role?: JobRunnerOptions['role'];
  concurrency?: number;
  store?: JobRunnerOptions['store'];
}): Promise<JobNode> {
  const { databaseUrl, definitions, role = 'worker', concurrency = 4 } = options;
  const lines: Record<string, unknown>[] = [];
  const log: Logger = pino({ level: 'trace' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const wake = createWakeChannel({ databaseUrl, log });
  const services = { log, wake, now: () => new Date() } as unknown as Omit<Services, 'jobs'>;
  const store = options.store ?? { kind: 'postgres', url: databaseUrl };
  let runner: JobRunner;
  try {
    runner = createJobRunner({ definitions, store, services, concurrency, role });
  } catch (error) {
    await wake.close();
    throw error;
  }
  await Promise.all([wake.connected(), runner.start()]);
  return {
    runner,
    wake,
    lines,
    close: async () => {
      await runner.close();
      await wake.close();
    },
  };
}

export interface JobHouse {
  database: TestDatabase;
  /** One more process, which ends with the test. */
  node(
    definitions: readonly JobDefinition[],
    options?: Partial<Parameters<typeof openJobNode>[0]>,
  ): Promise<JobNode>;
  /** The jobs as they stand in the store, oldest first. */
  rows(): Promise<Record<string, unknown>[]>;
  /** Ends all nodes and forgets all jobs. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** A database with the job store in it, and the processes a test lets work on it. */
export async function openJobHouse(): Promise<JobHouse> {
  const database = await createTestDatabase();
  const open: JobNode[] = [];
  return {
    database,
    async node(definitions, options = {}) {
      const opened = await openJobNode({ databaseUrl: database.url, definitions, ...options });
      open.push(opened);
      return opened;
    },
    rows: () => database.orm.em.fork().execute('select * from jobs.agenda_jobs order by created_at'),
    async clear() {
      await Promise.all(open.splice(0).map((node) => node.close()));
      await database.orm.em.fork().execute('delete from jobs.agenda_jobs');
    },
    close: () => database.close(),
  };
}

const payload = z.strictObject({ runId: z.string().min(1) });

/** `execute-run`, doing what the test says. */
export function runJob(
  run: (input: { runId: string }, tools: JobTools) => Promise<void>,
  options: Partial<Parameters<typeof defineJob>[0]> = {},
): JobDefinition {
  return defineJob({ name: 'execute-run', lockLifetimeMs: 2_000, ...options, payload, run });
}
