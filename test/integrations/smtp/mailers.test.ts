import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import PostalMime from 'postal-mime';
import { createEmlMailer } from '../../../src/integrations/smtp/eml-mailer.js';
import { openMailer } from '../../../src/integrations/smtp/open-mailer.js';
import { createSmtpMailer } from '../../../src/integrations/smtp/smtp-mailer.js';
import { startSilentServer } from '../../support/silent-server.js';
import { refusal, startMailServer } from './mail-server.js';

const from = 'Opsgraph <ops@opsgraph.test>';
const link = `https://ops.test/account/password#token=${'a'.repeat(43)}`;
const message = {
  id: 'mail_1',
  to: 'zoë.o@acme.test',
  subject: 'Grüße\r\nBcc: x@y.test',
  text: `Hello\n\n${link}\n`,
};
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serverWith(options: Parameters<typeof startMailServer>[0] = {}) {
  const server = await startMailServer(options);
  closers.push(server.close);
  return { server, mailer: createSmtpMailer({ url: server.url, from }) };
}

describe('over SMTP', () => {
  it('delivers text, subject and sender, without a header that came with the subject', async () => {
    const { server, mailer } = await serverWith();
    await expect(mailer.send(message)).resolves.toEqual({ accepted: true });
    const [mail] = server.mails;
    expect(mail?.to).toEqual(['zoë.o@acme.test']);
    expect(mail?.email).toMatchObject({
      from: { name: 'Opsgraph', address: 'ops@opsgraph.test' },
      subject: expect.stringMatching(/^Grüße\s*Bcc: x@y.test$/),
      messageId: '<mail_1@opsgraph.test>',
    });
    expect(mail?.email.bcc).toBeUndefined();
    expect(mail?.email.text?.trim()).toBe(`Hello\n\n${link}`);
  });

  it('takes an address with a comma for one address', async () => {
    const { server, mailer } = await serverWith();
    await mailer.send({ ...message, to: 'a@acme.test, b@globex.test' }).catch(() => undefined);
    expect(server.mails.flatMap(({ to }) => to)).not.toContain('b@globex.test');
  });

  it('says when a recipient is refused for good, and throws when the server asks to come back', async () => {
    const statuses = [550, 451];
    const { mailer } = await serverWith({
      onRcptTo: (_address, _session, done) => done(refusal(statuses.shift() ?? 250, 'no')),
    });
    await expect(mailer.send(message)).resolves.toEqual({ accepted: false, status: 550 });
    await expect(mailer.send(message)).rejects.toMatchObject({ responseCode: 451 });
  });

  it('throws when the login is refused, which is a setting', async () => {
    const { server } = await serverWith({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(refusal(535, 'no')),
    });
    const mailer = createSmtpMailer({ url: server.url.replace('//', '//ops:wrong@'), from });
    await expect(mailer.send(message)).rejects.toMatchObject({ code: 'EAUTH' });
  });

  it('throws when nobody listens', async () => {
    const { server, mailer } = await serverWith();
    await server.close();
    await expect(mailer.send(message)).rejects.toMatchObject({ code: 'ESOCKET' });
  });

  it('gives up on a server that hangs, after 5 s by itself and at once when told', async () => {
    const silent = await startSilentServer();
    closers.push(silent.close);
    const mailer = createSmtpMailer({ url: `smtp://${silent.host}:${silent.port}`, from });
    const started = performance.now();
    const aborted = new AbortController();
    const told = mailer.send(message, aborted.signal);
    aborted.abort();
    await expect(told).rejects.toMatchObject({ name: 'AbortError' });
    expect(performance.now() - started).toBeLessThan(1_000);
    await expect(mailer.send(message)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - started).toBeLessThan(9_000);
  }, 15_000);
});

describe('into files', () => {
  it('writes a whole message that only we may read, and says where once', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-mail-'));
    closers.push(() => rm(dataDir, { recursive: true }));
    const said: unknown[] = [];
    const log = { info: (...line: unknown[]) => void said.push(line) };
    const mailer = openMailer({ smtpUrl: undefined, mailFrom: from, dataDir, log });
    await Promise.all([
      mailer.send(message),
      mailer.send(message),
      mailer.send({ ...message, id: 'mail_2' }),
    ]);
    const directory = path.join(dataDir, 'mail');
    expect((await readdir(directory)).sort()).toEqual(['mail_1.eml', 'mail_2.eml']);
    const file = path.join(directory, 'mail_1.eml');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const email = await PostalMime.parse(await readFile(file));
    expect(email.text).toContain(link);
    expect(email.to).toEqual([{ name: '', address: 'zoë.o@acme.test' }]);
    expect(said).toEqual([[{ directory }, expect.stringContaining('.eml')]]);
  });

  it('stays inside its directory whatever the id', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-mail-'));
    closers.push(() => rm(directory, { recursive: true }));
    await createEmlMailer({ directory, from }).send({ ...message, id: '../../escaped' });
    expect(await readdir(directory)).toEqual(['escaped.eml']);
  });
});
