import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type MailServer, startMailServer } from '../integrations/smtp/mail-server.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Call, caller } from '../support/rest.js';

let mailServer: MailServer;
let app: TestApp;
let anybody: Call;
const clock = { offsetMs: 0 };
const HOUR_MS = 3_600_000;
/** Requests whose mail is not written yet. */
const RESETS = "select 1 from mail where kind = 'password_reset'";

beforeAll(async () => {
  mailServer = await startMailServer();
  app = await startTestApp(
    { SMTP_URL: mailServer.url, PUBLIC_URL: 'https://ops.example.test/base', RATE_LIMIT_DISABLED: 'true' },
    { now: () => new Date(Date.now() + clock.offsetMs) },
  );
  anybody = caller(app.url);
});
afterEach(() => {
  clock.offsetMs = 0;
});
afterAll(async () => {
  await app.close();
  await mailServer.close();
});

const mailsTo = (address: string) =>
  mailServer.mails.filter(({ to }) => to.includes(address)).map(({ email }) => email);

/** The token of the newest link that came to an address, which has `count` mails by then. */
async function linkTo(address: string, count: number): Promise<string> {
  await eventually(() => mailsTo(address).length >= count);
  const text = mailsTo(address)[count - 1]?.text ?? '';
  const link = /https:\/\/ops\.example\.test\/base\/account\/password#token=([\w-]{43})\s/.exec(text);
  if (!link?.[1]) throw new Error(`no link in ${text}`);
  return link[1];
}

const login = (email: string, password: string) => anybody('POST', '/v1/auth/login', { email, password });
const forgot = (email: string) => anybody('POST', '/v1/auth/password/forgot', { email });
const reset = (token: string, password: string) =>
  anybody('POST', '/v1/auth/password/reset', { token, password });
const me = async (token: string) => {
  const call = caller(app.url, { authorization: `Bearer ${token}` });
  return call('GET', '/v1/users/me');
};

describe('POST /v1/auth/password/forgot and /reset', () => {
  it('sends a link that sets the password once and ends every session', async () => {
    const { body: session } = await login('user@acme.test', 'opsgraph-demo');
    const asked = await forgot(' User@Acme.test ');
    expect(asked.status).toBe(200);
    const token = await linkTo('user@acme.test', 1);

    const answer = await reset(token, 'a brand new phrase');
    expect(answer).toMatchObject({ status: 200, body: { changed: true, sessionsTerminated: 1 } });
    expect(await me(session.accessToken)).toMatchObject({
      status: 401,
      body: { error: { code: 'TOKEN_INVALID' } },
    });
    const refreshed = await anybody('POST', '/v1/auth/refresh', { refreshToken: session.refreshToken });
    expect(refreshed.status).toBe(401);
    expect((await login('user@acme.test', 'opsgraph-demo')).status).toBe(401);
    expect((await login('user@acme.test', 'a brand new phrase')).status).toBe(200);

    expect(await reset(token, 'another new phrase')).toMatchObject({
      status: 401,
      body: { error: { code: 'TOKEN_INVALID' } },
    });
    await eventually(() => mailsTo('user@acme.test').length === 2);
    expect(mailsTo('user@acme.test')[1]?.subject).toBe('Your password was changed');
  });

  it('answers the same for an address that nobody has, and sends nothing', async () => {
    const known = await forgot('manager@acme.test');
    const unknown = await forgot('nobody@acme.test');
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    await linkTo('manager@acme.test', 1);
    await eventually(async () => (await rows(RESETS)).length === 0);
    expect(mailsTo('nobody@acme.test')).toEqual([]);
    expect(await rows('select 1 from password_token where user_id not in (select id from "user")')).toEqual(
      [],
    );
  });

  it('keeps no token, only its hash, and in the queue no address that could be read', async () => {
    const token = await linkTo('manager@acme.test', 1);
    const [stored] = await rows('select * from password_token');
    expect(JSON.stringify(stored)).not.toContain(token);
    expect(stored).toMatchObject({ purpose: 'reset', hash: expect.stringMatching(/^[\w-]{43}$/) });
  });

  it('takes a link for an hour', async () => {
    await forgot('agent@globex.test');
    const token = await linkTo('agent@globex.test', 1);
    clock.offsetMs = HOUR_MS + 60_000;
    expect((await reset(token, 'a brand new phrase')).status).toBe(401);
    clock.offsetMs = HOUR_MS - 60_000;
    expect((await reset(token, 'a brand new phrase')).status).toBe(200);
  });

  it('voids the other links once one was used', async () => {
    await forgot('manager@globex.test');
    await forgot('manager@globex.test');
    const tokens = [await linkTo('manager@globex.test', 1), await linkTo('manager@globex.test', 2)] as const;
    expect((await reset(tokens[1], 'a brand new phrase')).status).toBe(200);
    expect((await reset(tokens[0], 'a brand new phrase')).status).toBe(401);
  });

  it('lets one of many simultaneous uses of a link win', async () => {
    await forgot('user@globex.test');
    const token = await linkTo('user@globex.test', 1);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => reset(token, `phrase number ${index}`)),
    );
    const won = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
    expect((await login('user@globex.test', `phrase number ${won[0]}`)).status).toBe(200);
  });

  it('keeps the link when the password breaks a rule', async () => {
    await forgot('admin@globex.test');
    const token = await linkTo('admin@globex.test', 1);
    expect(await reset(token, 'short')).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'password', constraint: 'minLength' } } },
    });
    expect((await reset(token, 'long enough, for once')).status).toBe(200);
  });

  it.each([
    [{ token: 'x', password: 'long enough, for once' }, 401, 'TOKEN_INVALID', null],
    [{ token: 'A'.repeat(43), password: 'long enough, for once' }, 401, 'TOKEN_INVALID', null],
    [{ password: 'x' }, 400, 'VALIDATION_ERROR', { field: 'token', constraint: 'isDefined' }],
  ])('refuses %j with %d %s', async (body, status, code, details) => {
    const answer = await anybody('POST', '/v1/auth/password/reset', body);
    expect(answer).toMatchObject({ status, body: { error: { code, details } } });
  });

  it('fills nobody’s mailbox: after five open links no more are sent', async () => {
    const before = mailsTo('agent@acme.test').length;
    for (let asked = 0; asked < 8; asked += 1) await forgot('agent@acme.test');
    await eventually(async () => (await rows(RESETS)).length === 0);
    expect(mailsTo('agent@acme.test').length - before).toBe(5);
  });
});

describe('POST /v1/auth/password/change', () => {
  it('ends the other sessions and keeps the present one', async () => {
    await forgot('user@acme.test');
    const sessions = [
      await login('user@acme.test', 'a brand new phrase'),
      await login('user@acme.test', 'a brand new phrase'),
    ].map(({ body }) => body.accessToken as string);
    const call = caller(app.url, { authorization: `Bearer ${sessions[1]}` });
    const input = { current: 'a brand new phrase', password: 'yet another phrase' };
    const { status, body } = await call('POST', '/v1/auth/password/change', input);
    // The login of an earlier test is still there as well.
    expect([status, body]).toEqual([
      200,
      { changed: true, sessionsTerminated: 2, message: expect.any(String) },
    ]);
    expect((await me(sessions[0] ?? '')).status).toBe(401);
    expect((await me(sessions[1] ?? '')).status).toBe(200);
    expect((await login('user@acme.test', 'yet another phrase')).status).toBe(200);
  });

  it('refuses a wrong current password, which counts as a failed login', async () => {
    const headers = await app.itsm('admin@acme.test');
    const call = caller(app.url, headers);
    const input = { current: 'not it at all', password: 'yet another phrase' };
    for (let tried = 0; tried < 5; tried += 1)
      expect(await call('POST', '/v1/auth/password/change', input)).toMatchObject({
        status: 401,
        body: { error: { code: 'AUTHENTICATION_ERROR', details: null } },
      });
    expect(await call('POST', '/v1/auth/password/change', input)).toMatchObject({
      status: 403,
      body: { error: { code: 'ACCOUNT_LOCKED' } },
    });
    const entries = await rows("select 1 from audit_entry where action = 'auth.password_change_failed'");
    expect(entries).toHaveLength(5);
  });

  it('asks for a login', async () => {
    const answer = await anybody('POST', '/v1/auth/password/change', { current: 'a', password: 'b' });
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'AUTHENTICATION_ERROR' } } });
  });
});

describe('over GraphQL', () => {
  const graphql = (query: string, variables: object) => anybody('POST', '/graphql', { query, variables });

  it('asks for a link and uses it', async () => {
    const before = mailsTo('agent@globex.test').length;
    const asked = await graphql(
      'mutation ($input: ForgotPasswordInput!) { requestPasswordReset(input: $input) { accepted } }',
      { input: { email: 'agent@globex.test' } },
    );
    expect(asked.body).toEqual({ data: { requestPasswordReset: { accepted: true } } });
    const token = await linkTo('agent@globex.test', before + 1);
    const set = await graphql(
      'mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { changed } }',
      { input: { token, password: 'a phrase by graph' } },
    );
    expect(set.body).toEqual({ data: { resetPassword: { changed: true } } });
  });
});

describe('the audit log', () => {
  it('has every password that was set, and no password', async () => {
    const entries = await rows(
      "select action, after, actor_id, resource_id from audit_entry where action like 'auth.password%'",
    );
    expect(new Set(entries.map(({ action }) => action))).toEqual(
      new Set(['auth.password_reset', 'auth.password_changed', 'auth.password_change_failed']),
    );
    expect(JSON.stringify(entries)).not.toContain('phrase');
  });
});

describe('GET /account/password', () => {
  it('is a page that loads nothing and runs only its own script', async () => {
    const response = await fetch(`${app.url}/account/password`);
    expect(response.status).toBe(200);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'sha256-");
    expect(policy).not.toContain('unsafe');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await response.text()).toContain('/v1/auth/password/reset');
  });
});

function rows(sql: string): Promise<Record<string, unknown>[]> {
  return app.database.orm.em.fork().execute(sql);
}
