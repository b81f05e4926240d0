import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PostgresBackend } from '@agendajs/postgres-backend';
import { Agenda } from 'agenda';
import { pino } from 'pino';
import { z } from 'zod';
import { importSource } from '../scripts/import-source.ts';
import { openPool } from './support/open-pool.ts';

/**
 * Jobs per second, and milliseconds from the call of enqueue to the first line of the job, of the job runner against
 * Agenda used bare on the same PostgreSQL, in turns, so that a busy machine is busy for both.
 *
 *   node bench/jobs.ts
 */
const JOBS = 1_000;
const ENQUEUERS = 16;
const CONCURRENCY = 16;
const LATENCIES = 200;
const ROUNDS = 5;

interface Contender {
  enqueue(id: string): Promise<unknown>;
  close(): Promise<void>;
}

type Open = (databaseUrl: string, onStart: (id: string) => void) => Promise<Contender>;

const { startEmbeddedPostgres } = await importSource<typeof import('../src/database/embedded-postgres.js')>(
  'src/database/embedded-postgres.ts',
);
const { createJobRunner } =
  await importSource<typeof import('../src/jobs/job-runner.js')>('src/jobs/job-runner.ts');
const { defineJob } =
  await importSource<typeof import('../src/jobs/define-job.js')>('src/jobs/define-job.ts');
const { createWakeChannel } = await importSource<typeof import('../src/events/wake-channel.js')>(
  'src/events/wake-channel.ts',
);

const openRunner: Open = async (databaseUrl, onStart) => {
  const log = pino({ level: 'warn' });
  const wake = createWakeChannel({ databaseUrl, log });
  const definition = defineJob({
    name: 'measured',
    payload: z.strictObject({ rowId: z.string() }),
    lockLifetimeMs: 2_000,
    run: async ({ rowId }) => onStart(rowId),
  });
  const runner = createJobRunner({
    definitions: [definition],
    store: { kind: 'postgres', url: databaseUrl },
    services: { log, wake, now: () => new Date() } as never,
    concurrency: CONCURRENCY,
    role: 'all',
  });
  await Promise.all([runner.start(), wake.connected()]);
  return {
    enqueue: (rowId) => runner.enqueue('measured', { rowId }),
    close: async () => {
      await runner.drain(5_000);
      await runner.close();
      await wake.close();
    },
  };
};

const openBare: Open = async (databaseUrl, onStart) => {
  const pool = openPool({ connectionString: databaseUrl, max: CONCURRENCY + 3 });
  const agenda = new Agenda({
    backend: new PostgresBackend({ pool }),
    defaultConcurrency: CONCURRENCY,
    maxConcurrency: CONCURRENCY,
    defaultLockLifetime: 2_000,
    removeOnComplete: true,
  });
  agenda.define<{ rowId: string }>('measured', async (job) => onStart(job.attrs.data.rowId));
  await agenda.start();
  return {
    enqueue: (rowId) => agenda.now('measured', { rowId }),
    close: async () => {
      await agenda.drain(5_000);
      await pool.end();
    },
  };
};

async function throughput(databaseUrl: string, open: Open): Promise<number> {
  let started = 0;
  let finish: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const contender = await open(databaseUrl, () => {
    started += 1;
    if (started === JOBS) finish();
  });
  const begun = performance.now();
  let next = 0;
  const enqueuer = async () => {
    while (next < JOBS) await contender.enqueue(`row ${next++}`);
  };
  await Promise.all(Array.from({ length: ENQUEUERS }, enqueuer));
  await all;
  const seconds = (performance.now() - begun) / 1_000;
  await contender.close();
  return JOBS / seconds;
}

/** The contenders take turns job by job. */
async function latencies(databaseUrl: string, opens: Open[]): Promise<number[]> {
  let arrived: () => void = () => undefined;
  const contenders: Contender[] = [];
  for (const open of opens) contenders.push(await open(databaseUrl, () => arrived()));
  const milliseconds = contenders.map((): number[] => []);
  for (let index = 0; index < LATENCIES; index += 1) {
    for (const [position, contender] of contenders.entries()) {
      const start = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const begun = performance.now();
      await contender.enqueue(`row ${index}`);
      await start;
      milliseconds[position]?.push(performance.now() - begun);
      // The end of the job is not part of what is measured, nor may it burden the next one.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  for (const contender of contenders) await contender.close();
  return milliseconds.map(median);
}

const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-bench-jobs-'));
const server = await startEmbeddedPostgres({ dataDir });
try {
  const rates = { runner: [] as number[], bare: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.bare.push(await throughput(server.url, openBare));
    rates.runner.push(await throughput(server.url, openRunner));
  }
  const [rate, bareRate] = [median(rates.runner), median(rates.bare)];
  const [delay = Number.NaN, bareDelay = Number.NaN] = await latencies(server.url, [openRunner, openBare]);
  process.stdout.write(
    `jobs per second: runner ${rate.toFixed(0)}, bare Agenda ${bareRate.toFixed(0)}, ratio ${(rate / bareRate).toFixed(2)}\n` +
      `enqueue to start, p50: runner ${delay.toFixed(1)} ms, bare Agenda ${bareDelay.toFixed(1)} ms, ratio ${(delay / bareDelay).toFixed(2)} (lower is better)\n`,
  );
} finally {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
}
// Agenda leaves a timer per job behind, of half a lock lifetime.
process.exit(0);
