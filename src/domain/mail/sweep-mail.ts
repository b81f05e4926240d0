import { deliverMail, dueMails } from './deliver-mail.js';
import type { MailServices, MailWriters } from './mail-request.js';

const BATCH = 100;

/**
 * What no job was left for: retries, and mails whose job was lost. The first failure ends the round, since a server
 * that is away would make each of the others wait for it.
 */
export async function sweepMail(
  services: MailServices,
  writers: MailWriters,
  signal: AbortSignal,
): Promise<void> {
  for (const id of await dueMails(services, BATCH)) {
    if (signal.aborted) return;
    if (!(await deliverMail(services, writers, id, signal))) return;
  }
}
