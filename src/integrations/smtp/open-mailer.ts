import path from 'node:path';
import { createEmlMailer } from './eml-mailer.js';
import type { Mailer } from './mailer.js';
import { createSmtpMailer } from './smtp-mailer.js';

/** By SMTP, or without a server into files, which the log then says once. */
export function openMailer({
  smtpUrl,
  mailFrom,
  dataDir,
  log,
}: {
  smtpUrl: string | undefined;
  mailFrom: string;
  dataDir: string;
  log: { info(fields: object, message: string): void };
}): Mailer {
  if (smtpUrl !== undefined) return createSmtpMailer({ url: smtpUrl, from: mailFrom });
  const directory = path.join(dataDir, 'mail');
  log.info({ directory }, 'SMTP_URL is not set: mails are written as .eml files');
  return createEmlMailer({ directory, from: mailFrom });
}
