import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineJob } from '../../src/jobs/define-job.js';
import { type JobHouse, openJobHouse, runJob } from './job-house.js';

let house: JobHouse;

beforeAll(async () => {
  house = await openJobHouse();
});

afterAll(async () => {
  await house.clear();
  await house.close();
});

it('long jobs leave a place to the others, and take the only one there is', async () => {
  const over = Promise.withResolvers<void>();
  const begun: string[] = [];
  const long = runJob(
    async ({ runId }) => {
      begun.push(runId);
      await over.promise;
    },
    { isLong: true },
  );
  const sent = Promise.withResolvers<void>();
  const mail = defineJob({
    name: 'mail',
    payload: z.strictObject({}),
    lockLifetimeMs: 2_000,
    run: async () => sent.resolve(),
  });
  const { runner } = await house.node([long, mail], { concurrency: 3 });
  for (const runId of ['1', '2', '3', '4']) await runner.enqueue('execute-run', { runId });
  await runner.enqueue('mail', {});
  await sent.promise;
  expect(begun).toHaveLength(2);
  over.resolve();

  const alone = Promise.withResolvers<void>();
  const single = await house.node([runJob(async () => alone.resolve(), { isLong: true })], {
    concurrency: 1,
  });
  await single.runner.enqueue('execute-run', { runId: '5' });
  await alone.promise;
});
