import { z } from 'zod';
import { sweepMail } from '../domain/mail/index.js';
import { defineJob } from './define-job.js';
import { mailWriters } from './mail-writers.js';

export const sweepMailJob = defineJob({
  name: 'sweep-mail',
  payload: z.strictObject({}),
  concurrency: 1,
  every: 15_000,
  lockLifetimeMs: 10_000,
  run: (_payload, { services, signal }) => sweepMail(services, mailWriters, signal),
});
