import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import type { Answer, Call } from '../support/rest.js';
import { Clock, Person } from './mfa-person.js';
import { SoftwareAuthenticator } from './software-authenticator.js';

const ORIGIN = 'https://desk.example.test';
let app: TestApp;
let person: Person;
let me: Call;
let key: SoftwareAuthenticator;

async function start(env: Record<string, string>): Promise<void> {
  app = await startTestApp(env);
  person = new Person(app, new Clock(), 'user@acme.test');
}

async function register(authenticator: SoftwareAuthenticator, origin = ORIGIN): Promise<Answer> {
  const { body: options } = await me('POST', '/v1/auth/mfa/setup', { method: 'webauthn' });
  return me('POST', '/v1/auth/mfa/setup/confirm', { attestation: authenticator.create(options, origin) });
}

async function logIn(
  answer: (options: Parameters<SoftwareAuthenticator['get']>[0]) => object,
): Promise<Answer> {
  const { body } = await person.logIn();
  return person.verify(body.mfaToken, { method: 'webauthn', assertion: answer(body.assertionOptions) });
}

describe('with PUBLIC_URL', () => {
  beforeAll(() => start({ PUBLIC_URL: `${ORIGIN}/ops` }));
  beforeEach(async () => {
    for (const table of ['login_guard', 'webauthn_credential', 'backup_code', 'mfa_setup'])
      await app.database.orm.em.execute(`delete from ${table}`);
    key = new SoftwareAuthenticator();
    me = await person.authenticated();
  });
  afterAll(() => app.close());

  it('offers creation options of this domain that ask for no attestation', async () => {
    const { status, body } = await me('POST', '/v1/auth/mfa/setup', { method: 'webauthn' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      rp: { id: 'desk.example.test', name: 'Opsgraph' },
      user: { name: 'user@acme.test' },
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      attestation: 'none',
      excludeCredentials: [],
    });
  });

  it('logs in with a registered key; its options come with the challenge', async () => {
    const confirmed = await register(key);
    expect(confirmed).toMatchObject({ status: 200, body: { backupCodes: { length: 10 } } });
    const { status, body } = await person.logIn();
    expect(status).toBe(202);
    expect(body).toMatchObject({
      allowedMethods: ['webauthn', 'backup_codes'],
      assertionOptions: {
        rpId: 'desk.example.test',
        allowCredentials: [{ id: key.id.toString('base64url'), type: 'public-key', transports: ['usb'] }],
      },
    });
    const assertion = key.get(body.assertionOptions, ORIGIN);
    const answer = await person.verify(body.mfaToken, { method: 'webauthn', assertion });
    expect(answer.status).toBe(200);
    expect(answer.body.tokenType).toBe('Bearer');
  });

  it.each<[string, (options: Parameters<SoftwareAuthenticator['get']>[0]) => object]>([
    ['of another origin', (options) => key.get(options, 'https://desk.example.test.evil.test')],
    ['for another domain', (options) => key.get({ ...options, rpId: 'evil.test' }, ORIGIN)],
    ['of another challenge', (options) => key.get({ ...options, challenge: 'A'.repeat(43) }, ORIGIN)],
    ['of a key nobody registered', (options) => new SoftwareAuthenticator().get(options, ORIGIN)],
    [
      'signed by another key',
      (options) => {
        const id = key.id.toString('base64url');
        return { ...new SoftwareAuthenticator().get(options, ORIGIN), id, rawId: id };
      },
    ],
    [
      'with a counter that stands still',
      (options) => {
        key.counter -= 1;
        return key.get(options, ORIGIN);
      },
    ],
    [
      'that is nonsense',
      (options) => {
        const answer = key.get(options, ORIGIN);
        return {
          ...answer,
          response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
        };
      },
    ],
  ])('refuses an assertion %s', async (_what, answer) => {
    await register(key);
    expect((await logIn((options) => key.get(options, ORIGIN))).status).toBe(200);
    const { status, body } = await logIn(answer);
    expect([status, body.error.code]).toEqual([401, 'AUTHENTICATION_ERROR']);
  });

  it('refuses the same assertion for another challenge, and lets one of two at once in', async () => {
    await register(key);
    const { body } = await person.logIn();
    const assertion = key.get(body.assertionOptions, ORIGIN);
    const verify = (mfaToken: string) => person.verify(mfaToken, { method: 'webauthn', assertion });
    const both = await Promise.all([verify(body.mfaToken), verify(body.mfaToken)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect((await verify(await person.mfaToken())).status).toBe(401);
  });

  it('refuses another user’s key', async () => {
    await register(key);
    const other = new Person(app, new Clock(), 'user@globex.test');
    const theirs = await other.authenticated();
    const own = new SoftwareAuthenticator();
    const { body: options } = await theirs('POST', '/v1/auth/mfa/setup', { method: 'webauthn' });
    await theirs('POST', '/v1/auth/mfa/setup/confirm', { attestation: own.create(options, ORIGIN) });
    expect((await logIn((asked) => own.get(asked, ORIGIN))).status).toBe(401);
  });

  it('refuses to register for another origin or challenge, or the same key twice', async () => {
    expect((await register(key, 'https://evil.test')).status).toBe(401);
    const { body: options } = await me('POST', '/v1/auth/mfa/setup', { method: 'webauthn' });
    const attestation = key.create({ ...options, challenge: 'B'.repeat(43) }, ORIGIN);
    expect((await me('POST', '/v1/auth/mfa/setup/confirm', { attestation })).status).toBe(401);
    expect((await register(key)).status).toBe(200);
    expect((await register(key)).status).toBe(409);
  });

  it('takes several keys and removes them together', async () => {
    const second = new SoftwareAuthenticator();
    expect((await register(key)).status).toBe(200);
    expect((await register(second)).status).toBe(200);
    expect((await logIn((options) => key.get(options, ORIGIN))).status).toBe(200);
    expect((await logIn((options) => second.get(options, ORIGIN))).status).toBe(200);
    expect((await me('DELETE', '/v1/auth/mfa/webauthn')).status).toBe(204);
    expect((await person.logIn()).status).toBe(200);
  });
});

describe('without PUBLIC_URL', () => {
  beforeAll(() => start({}));
  afterEach(() => app.close());

  it('belongs to localhost, at whatever port, and to nobody else', async () => {
    me = await person.authenticated();
    key = new SoftwareAuthenticator();
    const local = 'http://localhost:4000';
    for (const foreign of ['http://127.0.0.1:4000', 'http://localhost.evil.test', 'null'])
      expect((await register(key, foreign)).status).toBe(401);
    expect((await register(key, local)).status).toBe(200);
    expect((await logIn((options) => key.get(options, local))).status).toBe(200);
    expect((await logIn((options) => key.get(options, 'https://evil.test'))).status).toBe(401);
  });
});
