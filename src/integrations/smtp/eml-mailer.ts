import { randomUUID } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import type { Mailer } from './mailer.js';
import { messageId } from './smtp-mailer.js';

/**
 * Without a mail server: one `<id>.eml` (RFC 5322) in the directory for each message, readable by our account only,
 * since links inside set passwords. A file is whole once it has its name; the same id replaces it.
 */
export function createEmlMailer({ directory, from }: { directory: string; from: string }): Mailer {
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ id = randomUUID(), to, subject, text }, signal) {
      signal?.throwIfAborted();
      const { message } = await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        messageId: messageId(id, from),
        headers: { 'auto-submitted': 'auto-generated' },
      });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = path.join(directory, `${path.basename(id)}.eml`);
      const unfinished = `${file}.${randomUUID()}.part`;
      const handle = await open(unfinished, 'wx', 0o600);
      try {
        await handle.writeFile(message as Buffer);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(unfinished, file);
      return { accepted: true };
    },
  };
}
