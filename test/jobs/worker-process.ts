import { Client } from 'pg';
import { pino } from 'pino';
import { z } from 'zod';
import { importSource } from '../../scripts/import-source.ts';

/**
 * A process with one kind of job, which notes in the table `job_note` when it begins and ends, for tests that kill it.
 *
 *   node worker-process.ts <database URL> <role> <milliseconds a job takes>
 */
const [databaseUrl = '', role = 'worker', takes = '0'] = process.argv.slice(2);
const { createJobRunner } =
  await importSource<typeof import('../../src/jobs/job-runner.js')>('src/jobs/job-runner.ts');
const { defineJob } =
  await importSource<typeof import('../../src/jobs/define-job.js')>('src/jobs/define-job.ts');
const { createWakeChannel } = await importSource<typeof import('../../src/events/wake-channel.js')>(
  'src/events/wake-channel.ts',
);

const log = pino({ level: 'silent' });
const wake = createWakeChannel({ databaseUrl, log });
const notes = new Client({ connectionString: databaseUrl });
await notes.connect();
const note = (jobId: string, what: string) =>
  notes.query('insert into job_note (job_id, pid, what) values ($1, $2, $3)', [jobId, process.pid, what]);

const definition = defineJob({
  name: 'note',
  payload: z.strictObject({ jobId: z.string() }),
  lockLifetimeMs: 1_000,
  async run({ jobId }, { signal }) {
    await note(jobId, 'begun');
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, Number(takes));
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
    await note(jobId, 'ended');
  },
});
const runner = createJobRunner({
  definitions: [definition],
  store: { kind: 'postgres', url: databaseUrl },
  services: { log, wake, now: () => new Date() } as never,
  concurrency: 2,
  role: role === 'api' ? 'api' : 'worker',
});
await Promise.all([runner.start(), wake.connected()]);
process.on('message', (jobId: string) => runner.enqueue('note', { jobId }));
process.on('SIGTERM', async () => {
  await runner.drain(5_000);
  await runner.close();
  await wake.close();
  await notes.end();
  process.exit(0);
});
process.send?.('ready');
