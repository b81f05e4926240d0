import { Mail } from '../../entities/mail/mail.js';
import {
  isMailKind,
  type MailServices,
  type MailText,
  type MailWriters,
  triedForMs,
} from './mail-request.js';

type Writer = (services: MailServices, details: unknown, mailId: string) => Promise<MailText | undefined>;

/** Longer than an attempt may take (src/integrations/smtp): after that its worker is dead. */
const LEASE_MS = 90_000;
const FIRST_DELAY_MS = 30_000;
const MAX_DELAY_MS = 3_600_000;

/**
 * Sends a mail that is due, on one worker at a time: whoever moves its due time has it. False when the attempt failed
 * and a later one is due.
 */
export async function deliverMail(
  services: MailServices,
  writers: MailWriters,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const mail = await claim(services, id);
  if (mail === undefined) return true;
  const log = services.log.child({ mailId: id, kind: mail.kind, attempt: mail.attempts });
  try {
    const outcome = await send(services, writers, mail, signal);
    await remove(services, id);
    if (outcome === undefined) log.debug('mail: nothing to send');
    else if (outcome.accepted) log.info('mail sent');
    else log.warn({ status: outcome.status }, 'mail refused for good');
    return true;
  } catch (error) {
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (mail.attempts - 1), MAX_DELAY_MS);
    const dueAt = new Date(services.now().getTime() + delayMs);
    const lasts = isMailKind(mail.kind) ? triedForMs[mail.kind] : 0;
    if (dueAt.getTime() > mail.createdAt.getTime() + lasts) {
      await remove(services, id);
      log.error({ err: error }, 'mail given up');
    } else {
      await services.orm.em.fork().nativeUpdate(Mail, { id }, { dueAt });
      log.warn({ err: error, delayMs }, 'mail not sent, will be tried again');
    }
    return false;
  }
}

/** Ids of mails whose time has come, the longest waiting first. */
export async function dueMails({ orm, now }: MailServices, limit: number): Promise<string[]> {
  const options = { fields: ['id'], orderBy: { dueAt: 'asc' }, limit } as const;
  const mails = await orm.em.fork().find(Mail, { dueAt: { $lte: now() } }, options);
  return mails.map(({ id }) => id);
}

async function claim({ orm, now }: MailServices, id: string): Promise<Mail | undefined> {
  const em = orm.em.fork();
  const at = now();
  const claimed = await em.execute<{ id: string }[]>(
    'update mail set due_at = ?, attempts = attempts + 1 where id = ? and due_at <= ? returning id',
    [new Date(at.getTime() + LEASE_MS), id, at],
  );
  return claimed.length === 0 ? undefined : ((await em.findOne(Mail, { id })) ?? undefined);
}

async function send(services: MailServices, writers: MailWriters, mail: Mail, signal: AbortSignal) {
  const { id, kind, sealedDetails } = mail;
  if (!isMailKind(kind)) throw new TypeError(`No mail is called ${kind}`);
  const write = writers[kind] as Writer;
  const text = await write(services, JSON.parse(services.secrets.open(sealedDetails)), id);
  return text && services.mail.send({ id, ...text }, signal);
}

async function remove({ orm }: MailServices, id: string): Promise<void> {
  await orm.em.fork().nativeDelete(Mail, { id });
}
