import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DEMO_PASSWORD } from '../../src/domain/identity/index.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Answer, type Call, caller } from '../support/rest.js';
import { Clock, forgetFactors, Person } from './mfa-person.js';

const clock = new Clock();
let app: TestApp;
let person: Person;
let me: Call;

beforeAll(async () => {
  app = await startTestApp({}, { now: clock.now });
});
beforeEach(async () => {
  clock.offsetMs = 0;
  await forgetFactors(app);
  person = new Person(app, clock, 'agent@acme.test');
  me = await person.authenticated();
});
afterAll(() => app.close());

const errorOf = ({ status, body }: Answer) => [status, body.error?.code];
const refused = [401, 'AUTHENTICATION_ERROR'];
const over = [401, 'TOKEN_INVALID'];
const codes = (answers: Answer[]) => answers.map(({ status }) => status).sort();

describe('a login with a second factor', () => {
  beforeEach(() => person.setUpTotp(me));

  it('answers 202 with the challenge and no token', async () => {
    const answer = await person.logIn();
    expect(answer.status).toBe(202);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      mfaRequired: true,
      mfaToken: expect.stringMatching(/^mfa_[\w-]{43}$/),
      allowedMethods: ['totp', 'backup_codes'],
      expiresIn: 300,
    });
  });

  it('gives tokens without a user for a code, once', async () => {
    const token = await person.mfaToken();
    const answer = await person.verify(token, { method: 'totp', code: person.code() });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresIn: 900,
      tokenType: 'Bearer',
    });
    const call = caller(app.url, { authorization: `Bearer ${answer.body.accessToken}` });
    expect((await call('GET', '/v1/tickets')).status).toBe(200);
    clock.nextStep();
    expect(errorOf(await person.verify(token, { method: 'totp', code: person.code() }))).toEqual(over);
  });

  it('takes the code before and after, and no other', async () => {
    for (const [steps, expected] of [
      [-2, 401],
      [2, 401],
      [1, 200],
    ] as const) {
      const answer = await person.verify(await person.mfaToken(), {
        method: 'totp',
        code: person.code(steps),
      });
      expect([steps, answer.status]).toEqual([steps, expected]);
    }
    clock.nextStep();
    clock.nextStep();
    clock.nextStep();
    const late = { method: 'totp', code: person.code(-1) };
    expect((await person.verify(await person.mfaToken(), late)).status).toBe(200);
  });

  it('accepts a step once: neither again, nor one before it, nor the one that confirmed', async () => {
    const code = person.code();
    const confirming = person.code(-1);
    expect(
      errorOf(await person.verify(await person.mfaToken(), { method: 'totp', code: confirming })),
    ).toEqual(refused);
    expect((await person.verify(await person.mfaToken(), { method: 'totp', code })).status).toBe(200);
    expect(errorOf(await person.verify(await person.mfaToken(), { method: 'totp', code }))).toEqual(refused);
  });

  it('of the same code twice at once lets one in', async () => {
    const tokens = [await person.mfaToken(), await person.mfaToken()];
    const code = person.code();
    const answers = await Promise.all(tokens.map((token) => person.verify(token, { method: 'totp', code })));
    expect(codes(answers)).toEqual([200, 401]);
  });

  it('of the same backup code twice at once lets one in, and never again', async () => {
    const [code = ''] = person.backupCodes;
    const tokens = [await person.mfaToken(), await person.mfaToken()];
    const answers = await Promise.all(
      tokens.map((token) => person.verify(token, { method: 'backup_codes', code })),
    );
    expect(codes(answers)).toEqual([200, 401]);
    expect(errorOf(await person.verify(await person.mfaToken(), { method: 'backup_codes', code }))).toEqual(
      refused,
    );
    const [, second = ''] = person.backupCodes;
    const typed = `${second.slice(0, 4).toUpperCase()}-${second.slice(4)}`;
    expect(
      (await person.verify(await person.mfaToken(), { method: 'backup_codes', code: typed })).status,
    ).toBe(200);
  });

  it('of one challenge met a dozen times at once with different right answers lets one in', async () => {
    const token = await person.mfaToken();
    const answers = await Promise.all([
      ...person.backupCodes.map((code) => person.verify(token, { method: 'backup_codes', code })),
      ...[0, 1].map((steps) => person.verify(token, { method: 'totp', code: person.code(steps) })),
    ]);
    expect(codes(answers)).toEqual([200, ...Array(11).fill(401)]);
    // The codes of those who came too late are still good.
    const left = await app.database.orm.em.execute('select 1 from backup_code');
    expect(left.length).toBeGreaterThanOrEqual(9);
  });

  it('ends a challenge after five attempts over all factors, also when ten come at once', async () => {
    const token = await person.mfaToken();
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => person.verify(token, { method: 'totp', code: person.wrongCode() })),
      ...Array.from({ length: 5 }, () => person.verify(token, { method: 'backup_codes', code: 'zzzzzzzz' })),
    ]);
    const outcome = answers.map(({ body }) => body.error.code).sort();
    expect(outcome).toEqual([...Array(5).fill('AUTHENTICATION_ERROR'), ...Array(5).fill('TOKEN_INVALID')]);
    expect(errorOf(await person.verify(token, { method: 'totp', code: person.code() }))).toEqual(over);
  });

  it('counts wrong codes as failed logins: a new challenge gives no new guesses', async () => {
    for (let n = 0; n < 5; n += 1)
      await person.verify(await person.mfaToken(), { method: 'totp', code: person.wrongCode() });
    const locked = await person.logIn();
    expect(errorOf(locked)).toEqual([403, 'ACCOUNT_LOCKED']);
    expect(locked.body.error.details.retryAfter).toBeGreaterThan(0);
  });

  it('ends a challenge after 300 seconds, and knows no other', async () => {
    const token = await person.mfaToken();
    clock.offsetMs += 300_000;
    expect(errorOf(await person.verify(token, { method: 'totp', code: person.code() }))).toEqual(over);
    expect(errorOf(await person.verify('mfa_unknown', { method: 'totp', code: '123456' }))).toEqual(over);
  });

  it('remembers the device of the login', async () => {
    const login = { email: person.email, password: DEMO_PASSWORD, deviceFingerprint: 'laptop-7' };
    const { body } = await person.anonymous('POST', '/v1/auth/login', login);
    await person.verify(body.mfaToken, { method: 'totp', code: person.code() });
    const rows = await app.database.orm.em.execute(
      "select 1 from session where device_fingerprint = 'laptop-7'",
    );
    expect(rows).toHaveLength(1);
  });

  it('refuses somebody deactivated in the meantime', async () => {
    const token = await person.mfaToken();
    const set = (active: boolean) =>
      app.database.orm.em.execute('update "user" set active = ? where email = ?', [active, person.email]);
    await set(false);
    expect(errorOf(await person.verify(token, { method: 'totp', code: person.code() }))).toEqual(refused);
    await set(true);
    expect((await person.verify(token, { method: 'totp', code: person.code() })).status).toBe(200);
  });

  it('makes ten new backup codes in place of the old ones', async () => {
    const mine = await person.authenticated();
    const renewed = await mine('POST', '/v1/auth/mfa/backup-codes');
    expect(renewed.status).toBe(200);
    expect(renewed.body.backupCodes).toHaveLength(10);
    const use = async (code: string) =>
      person.verify(await person.mfaToken(), { method: 'backup_codes', code });
    expect((await use(person.backupCodes[0] ?? '')).status).toBe(401);
    expect((await use(renewed.body.backupCodes[0])).status).toBe(200);
    await Promise.all([1, 2, 3].map(() => mine('POST', '/v1/auth/mfa/backup-codes')));
    expect(await app.database.orm.em.execute('select 1 from backup_code')).toHaveLength(10);
  });

  it('is no more once the factor is removed, and its backup codes with it', async () => {
    const mine = await person.authenticated();
    expect((await mine('DELETE', '/v1/auth/mfa/webauthn')).status).toBe(404);
    const unknown = await mine('DELETE', '/v1/auth/mfa/sms');
    expect(unknown).toMatchObject({ status: 404, body: { error: { details: { id: 'sms' } } } });
    expect((await mine('DELETE', '/v1/auth/mfa/totp')).status).toBe(204);
    expect((await mine('DELETE', '/v1/auth/mfa/totp')).status).toBe(404);
    expect((await person.logIn()).status).toBe(200);
    expect((await mine('POST', '/v1/auth/mfa/backup-codes')).status).toBe(409);
    expect(await app.database.orm.em.execute('select 1 from backup_code')).toHaveLength(0);
  });

  it('does without backup codes when they were removed', async () => {
    const mine = await person.authenticated();
    expect((await mine('DELETE', '/v1/auth/mfa/backup_codes')).status).toBe(204);
    expect((await person.logIn()).body.allowedMethods).toEqual(['totp']);
  });

  it('concerns nobody else', async () => {
    for (const email of ['agent@globex.test', 'admin@acme.test'])
      expect((await new Person(app, clock, email).logIn()).status).toBe(200);
    const stranger = new Person(app, clock, 'agent@globex.test');
    const theirs = await stranger.authenticated();
    expect((await theirs('DELETE', '/v1/auth/mfa/totp')).status).toBe(404);
    expect((await person.logIn()).status).toBe(202);
  });
});

describe('the same over GraphQL', () => {
  it('sets up, challenges, verifies and removes', async () => {
    const graph = async (call: Call, query: string, variables: object = {}) => {
      const { body } = await call('POST', '/graphql', { query, variables });
      if (body.errors) throw new Error(JSON.stringify(body.errors));
      return body.data;
    };
    const { setUpMfa } = await graph(
      me,
      'mutation { setUpMfa(input: { method: totp }) { secret creationOptions } }',
    );
    expect(setUpMfa.creationOptions).toBeNull();
    person.secret = setUpMfa.secret;
    const confirm = 'mutation ($code: String!) { confirmMfa(input: { code: $code }) { backupCodes } }';
    expect((await graph(me, confirm, { code: person.code() })).confirmMfa.backupCodes).toHaveLength(10);
    clock.nextStep();
    const logIn = `mutation ($input: LoginInput!) { login(input: $input) {
      __typename ... on LoginResult { accessToken } ... on MfaChallenge { mfaToken allowedMethods expiresIn } } }`;
    const credentials = { input: { email: person.email, password: DEMO_PASSWORD } };
    const { login } = await graph(person.anonymous, logIn, credentials);
    expect(login).toMatchObject({ __typename: 'MfaChallenge', allowedMethods: ['totp', 'backup_codes'] });
    const verify =
      'mutation ($input: VerifyMfaInput!) { verifyMfa(input: $input) { accessToken expiresIn } }';
    const input = { mfaToken: login.mfaToken, method: 'totp', code: person.code() };
    expect((await graph(person.anonymous, verify, { input })).verifyMfa.expiresIn).toBe(900);
    expect(await graph(me, 'mutation { removeMfa(method: totp) }')).toEqual({ removeMfa: true });
    expect((await graph(person.anonymous, logIn, credentials)).login.__typename).toBe('LoginResult');
  });
});
