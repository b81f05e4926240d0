import type { Services } from '../../context.js';
import { newId } from '../../entities/ids.js';
import { Mail } from '../../entities/mail/mail.js';
import type { Unit } from '../../events/transaction.js';
import type { MailDetails, MailKind } from './mail-request.js';

export const SEND_MAIL = 'send-mail';

/**
 * The mail is sent if, and only if, the unit commits; after a crash or an outage of the mail server later, and then
 * perhaps a second time, with the same Message-ID.
 */
export function queueMail<K extends MailKind>(
  { em, afterCommit }: Pick<Unit, 'em' | 'afterCommit'>,
  { secrets, jobs, now }: Pick<Services, 'secrets' | 'jobs' | 'now'>,
  kind: K,
  details: MailDetails[K],
): void {
  const id = newId('mail');
  const at = now();
  em.create(Mail, {
    id,
    kind,
    sealedDetails: secrets.seal(JSON.stringify(details)),
    attempts: 0,
    dueAt: at,
    createdAt: at,
  });
  // When this fails the sweep finds the row.
  afterCommit(() => jobs.enqueue(SEND_MAIL, { mailId: id }));
}
