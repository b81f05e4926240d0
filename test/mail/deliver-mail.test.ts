import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { parseConfig } from '../../src/config.js';
import type { MailServices, MailWriters } from '../../src/domain/mail/index.js';
import { deliverMail, queueMail, sweepMail } from '../../src/domain/mail/index.js';
import { transactional } from '../../src/events/transaction.js';
import { createSmtpMailer } from '../../src/integrations/smtp/smtp-mailer.js';
import { createSecretBox } from '../../src/secret-box.js';
import { type MailServer, refusal, startMailServer } from '../integrations/smtp/mail-server.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let server: MailServer;
let services: MailServices;
const clock = { at: Date.parse('2026-01-01T00:00:00Z') };
const replies: (number | undefined)[] = [];
const enqueued: unknown[] = [];
const never = new AbortController().signal;

const writers: MailWriters = {
  notice: async (_services, text) => text,
  password_reset: async () => undefined,
  invitation: async () => {
    throw new Error('cannot be written');
  },
  password_changed: async () => undefined,
};

beforeEach(async () => {
  database = await createTestDatabase();
  server = await startMailServer({
    onRcptTo(_address, _session, done) {
      const status = replies.shift();
      done(status === undefined ? null : refusal(status, 'no'));
    },
  });
  const config = parseConfig({ OPSGRAPH_SECRET_KEY: '5c'.repeat(32) }, '/nowhere');
  services = {
    config,
    orm: database.orm,
    secrets: createSecretBox(config),
    mail: createSmtpMailer({ url: server.url, from: 'ops@opsgraph.test' }),
    now: () => new Date(clock.at),
    log: pino({ level: 'silent' }),
  };
});
afterEach(async () => {
  replies.length = 0;
  enqueued.length = 0;
  await server.close();
  await database.close();
});

/** Queues a mail in a transaction of its own; its id. */
async function queue(
  kind: 'notice' | 'password_reset' | 'invitation' = 'notice',
  fail = false,
): Promise<string> {
  const jobs = {
    enqueue: async (_name: string, payload: unknown) => void enqueued.push(payload),
    healthy: () => true,
  };
  const wake = { wake: () => undefined, on: () => () => undefined };
  const details = {
    notice: { to: 'admin@acme.test', subject: 'Hello', text: 'A text' },
    password_reset: { email: 'admin@acme.test' },
    invitation: { userId: 'usr_1' },
  };
  await transactional(
    { em: database.orm.em.fork(), log: services.log, services: { now: services.now, wake } },
    async (unit) => {
      queueMail(unit, { ...services, jobs }, kind, details[kind]);
      if (fail) throw new Error('rolled back');
    },
  );
  return (enqueued.at(-1) as { mailId: string }).mailId;
}

const waiting = () =>
  database.orm.em
    .fork()
    .execute<{ id: string; attempts: number; due_at: string; sealed_details: string }[]>(
      'select * from mail order by due_at',
    );

describe('queueMail', () => {
  it('leaves nothing when the change is rolled back, and nothing to be read when it stands', async () => {
    await expect(queue('notice', true)).rejects.toThrow('rolled back');
    expect([await waiting(), enqueued]).toEqual([[], []]);
    const id = await queue();
    const [mail] = await waiting();
    expect(mail?.id).toBe(id);
    expect(JSON.stringify(mail)).not.toMatch(/acme|Hello|text"/);
  });
});

describe('deliverMail', () => {
  it('sends once and forgets', async () => {
    const id = await queue();
    expect(await deliverMail(services, writers, id, never)).toBe(true);
    expect(await deliverMail(services, writers, id, never)).toBe(true);
    expect(server.mails.map(({ to, email }) => [to, email.messageId])).toEqual([
      [['admin@acme.test'], `<${id}@opsgraph.test>`],
    ]);
    expect(await waiting()).toEqual([]);
  });

  it('sends once when many workers have the job', async () => {
    const id = await queue();
    await Promise.all(Array.from({ length: 8 }, () => deliverMail(services, writers, id, never)));
    expect(server.mails).toHaveLength(1);
  });

  it('tries again later and later while the server asks to come back, with the same Message-ID', async () => {
    const id = await queue();
    const delays: number[] = [];
    replies.push(451, 451, 451);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(await deliverMail(services, writers, id, never)).toBe(false);
      const [mail] = await waiting();
      const dueAt = new Date(mail?.due_at ?? 0).getTime();
      delays.push((dueAt - clock.at) / 1_000);
      expect(await deliverMail(services, writers, id, never)).toBe(true);
      clock.at = dueAt;
    }
    expect(delays).toEqual([30, 60, 120]);
    expect(server.mails).toEqual([]);
    await sweepMail(services, writers, never);
    expect(server.mails.map(({ email }) => email.messageId)).toEqual([`<${id}@opsgraph.test>`]);
  });

  it('gives up on a recipient that is refused for good, at once', async () => {
    const id = await queue();
    replies.push(550);
    await deliverMail(services, writers, id, never);
    expect([server.mails, await waiting()]).toEqual([[], []]);
  });

  it('gives up two days after it was asked for', async () => {
    await queue('invitation');
    let attempts = 0;
    for (let [mail] = await waiting(); mail; [mail] = await waiting()) {
      clock.at = new Date(mail.due_at).getTime();
      attempts += 1;
      await deliverMail(services, writers, mail.id, never);
    }
    // 30 s, doubled up to an hour: 7 attempts in the first 64 minutes, then one an hour.
    expect(attempts).toBeGreaterThan(50);
    expect(attempts).toBeLessThan(60);
  });

  it('is taken over from a worker that died in the middle', async () => {
    const id = await queue();
    await database.orm.em
      .fork()
      .execute('update mail set attempts = 1, due_at = ? where id = ?', [new Date(clock.at + 90_000), id]);
    await sweepMail(services, writers, never);
    expect(server.mails).toEqual([]);
    clock.at += 90_000;
    await sweepMail(services, writers, never);
    expect(server.mails).toHaveLength(1);
  });

  it('forgets what there is nothing to send for', async () => {
    const id = await queue('password_reset');
    await deliverMail(services, writers, id, never);
    expect([server.mails, await waiting()]).toEqual([[], []]);
  });
});

describe('sweepMail', () => {
  it('ends its round with the first failure, and does the rest in the next', async () => {
    for (let queued = 0; queued < 3; queued += 1) await queue();
    replies.push(451);
    await sweepMail(services, writers, never);
    expect(server.mails).toHaveLength(0);
    await sweepMail(services, writers, never);
    expect(server.mails).toHaveLength(2);
    expect(await waiting()).toHaveLength(1);
  });
});
