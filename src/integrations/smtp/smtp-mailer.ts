import { randomUUID } from 'node:crypto';
import { createTransport } from 'nodemailer';
import type { Mailer } from './mailer.js';

/** RFC 5321 section 4.5.3.2 allows minutes, but a job waits here and tries again. */
const CONNECT_MS = 5_000;
const SILENCE_MS = 10_000;
const SEND_MS = 30_000;

/**
 * A connection per message, since a mail is rare. STARTTLS is used when offered; `?requireTLS=true` in the URL insists.
 * @param url smtp:// or smtps://, with user, password and nodemailer's options in the query
 */
export function createSmtpMailer({ url, from }: { url: string; from: string }): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // A text never names files or URLs to be fetched into the mail.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ id = randomUUID(), to, subject, text }, signal) {
      const deadline = AbortSignal.timeout(SEND_MS);
      try {
        await transport.sendMail({
          from,
          // As an object it is one address, whatever commas it holds.
          to: { name: '', address: to },
          subject,
          text,
          messageId: messageId(id, from),
          headers: { 'auto-submitted': 'auto-generated' },
          signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        });
        return { accepted: true };
      } catch (error) {
        const status = finalStatus(error);
        if (status === undefined) throw error;
        return { accepted: false, status };
      }
    },
  };
}

/** RFC 5322 section 3.6.4: unique for ever, in our own domain. */
export function messageId(id: string, from: string): string {
  const domain = /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost';
  return `<${id}@${domain}>`;
}

/** Of the recipient or the message. A 5yz to our greeting or login is a setting somebody can mend. */
function finalStatus(error: unknown): number | undefined {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return undefined;
  return typeof responseCode === 'number' && responseCode >= 500 ? responseCode : undefined;
}
