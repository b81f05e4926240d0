import { z } from 'zod';
import { deliverMail, SEND_MAIL } from '../domain/mail/index.js';
import { defineJob } from './define-job.js';
import { mailWriters } from './mail-writers.js';

/** Only the first attempt: the row knows when the next one is due, and the sweep makes it. */
export const sendMailJob = defineJob({
  name: SEND_MAIL,
  payload: z.strictObject({ mailId: z.string() }),
  lockLifetimeMs: 10_000,
  async run({ mailId }, { services, signal }) {
    await deliverMail(services, mailWriters, mailId, signal);
  },
});
