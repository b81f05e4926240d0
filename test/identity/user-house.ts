import { expect } from '@jest/globals';
import { type MailServer, startMailServer } from '../integrations/smtp/mail-server.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, type Call, caller } from '../support/rest.js';

export interface UserHouse {
  app: TestApp;
  mailServer: MailServer;
  admin: Call;
  manager: Call;
  agent: Call;
  user: Call;
  /** The administrator of another organization. */
  foreign: Call;
  /** Ids of the organizations' teams, by slug. */
  teams: Readonly<Record<string, string>>;
  idOf(email: string): string;
  rows(sql: string, params?: unknown[]): Promise<Record<string, unknown>[]>;
  eventsOf(id: string): Promise<Record<string, unknown>[]>;
  /** Creates a user of acme. */
  add(fields?: object): Promise<{ id: string; email: string }>;
  invitationOf(address: string): Promise<string>;
  /** A new user who has followed the link of the invitation. */
  invited(fields?: object): Promise<{ id: string; email: string; token: string }>;
  close(): Promise<void>;
}

/** The whole server with a mail server beside it, and somebody of each role. */
export async function openUserHouse(): Promise<UserHouse> {
  const mailServer = await startMailServer();
  const app = await startTestApp({ SMTP_URL: mailServer.url });
  const rows: UserHouse['rows'] = (sql, params = []) => app.database.orm.em.fork().execute(sql, params);
  const as = async (email: string) => caller(app.url, await app.itsm(email));
  const [admin, manager, agent, user, foreign] = await Promise.all([
    as('admin@acme.test'),
    as('manager@acme.test'),
    as('agent@acme.test'),
    as('user@acme.test'),
    as('admin@globex.test'),
  ]);
  const ids = byName(await rows('select id, email as name from "user"'));
  const teams = byName(
    await rows('select t.id, o.slug as name from team t join organization o on o.id = organization_id'),
  );
  const add = adding(admin);
  const invitationOf = (address: string) => invitationIn(mailServer, address);
  return {
    app,
    mailServer,
    admin,
    manager,
    agent,
    user,
    foreign,
    teams,
    idOf: (email) => ids[email] ?? `no ${email}`,
    rows,
    eventsOf: (id) => rows('select type, payload from event where subject_id = ? order by position', [id]),
    add,
    invitationOf,
    async invited(fields) {
      const { id, email } = await add(fields);
      const token = await invitationOf(email);
      const password = 'opsgraph-demo';
      const set = await caller(app.url)('POST', '/v1/auth/password/reset', { token, password });
      expect(set.status).toBe(200);
      return { id, email, token };
    },
    async close() {
      await app.close();
      await mailServer.close();
    },
  };
}

function byName(rows: Record<string, unknown>[]): Record<string, string> {
  return Object.fromEntries(rows.map(({ id, name }) => [`${name}`, `${id}`]));
}

function adding(admin: Call): UserHouse['add'] {
  let made = 0;
  return async (fields = {}) => {
    made += 1;
    const input = { email: `new${made}@acme.test`, name: `New ${made}`, role: 'end_user', ...fields };
    const { status, body } = await admin('POST', '/v1/users', input);
    expect([status, body.error]).toEqual([201, undefined]);
    return body;
  };
}

async function invitationIn({ mails }: MailServer, address: string): Promise<string> {
  await eventually(() => mails.some(({ to }) => to.includes(address)));
  const mail = mails.find(({ to }) => to.includes(address));
  return /#token=([\w-]{43})/.exec(mail?.email.text ?? '')?.[1] ?? '';
}

export function expectError(
  { status, body }: Answer,
  expected: number,
  code: string,
  details?: unknown,
): void {
  expect([status, body?.error?.code]).toEqual([expected, code]);
  if (details !== undefined) expect(body.error.details).toEqual(details);
}
