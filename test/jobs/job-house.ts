import { type Logger, pino } from 'pino';
import type { Services } from '../../src/context.js';
import { createWakeChannel, type OpenWakeChannel } from '../../src/events/wake-channel.js';
import type { JobDefinition } from '../../src/jobs/define-job.js';
import { createJobRunner, type JobRunner, type JobRunnerOptions } from '../../src/jobs/job-runner.js';

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

/** A promise somebody else keeps. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
