import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import type { Answer, Call } from '../support/rest.js';
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
const codes = (answers: Answer[]) => answers.map(({ status }) => status).sort();

describe('set-up', () => {
  it('gives a secret and its URI, asks for nothing before a code confirms it, then gives ten backup codes', async () => {
    const offer = await me('POST', '/v1/auth/mfa/setup', { method: 'totp' });
    expect(offer.status).toBe(201);
    expect(offer.headers.get('cache-control')).toBe('no-store');
    expect(offer.body).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      otpauthUri: expect.stringMatching(
        new RegExp(
          `^otpauth://totp/Opsgraph:agent%40acme.test\\?issuer=Opsgraph&secret=${offer.body.secret}`,
        ),
      ),
    });
    person.secret = offer.body.secret;
    expect((await person.logIn()).status).toBe(200);
    expect(errorOf(await me('POST', '/v1/auth/mfa/setup/confirm', { code: person.wrongCode() }))).toEqual(
      refused,
    );

    const confirmed = await me('POST', '/v1/auth/mfa/setup/confirm', { code: person.code() });
    expect(confirmed.status).toBe(200);
    expect(Object.keys(confirmed.body)).toEqual(['backupCodes']);
    expect(new Set(confirmed.body.backupCodes).size).toBe(10);
    for (const code of confirmed.body.backupCodes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{8}$/);
    expect((await person.logIn()).status).toBe(202);
  });

  it('is confirmed once, of two confirmations at the same time too, and not twice over', async () => {
    expect((await me('POST', '/v1/auth/mfa/setup/confirm', { code: '123456' })).status).toBe(409);
    person.secret = (await me('POST', '/v1/auth/mfa/setup', { method: 'totp' })).body.secret;
    const body = { code: person.code() };
    const both = await Promise.all([1, 2].map(() => me('POST', '/v1/auth/mfa/setup/confirm', body)));
    expect(codes(both)).toEqual([200, 409]);
    expect((await me('POST', '/v1/auth/mfa/setup', { method: 'totp' })).status).toBe(409);
    const [{ count } = { count: 0 }] = await app.database.orm.em.execute<{ count: number }[]>(
      'select count(*)::int as count from backup_code',
    );
    expect(count).toBe(10);
  });

  it('is over after 15 minutes, and an earlier offer when there is a newer one', async () => {
    const first = await me('POST', '/v1/auth/mfa/setup', { method: 'totp' });
    await me('POST', '/v1/auth/mfa/setup', { method: 'totp' });
    person.secret = first.body.secret;
    expect(errorOf(await me('POST', '/v1/auth/mfa/setup/confirm', { code: person.code() }))).toEqual(refused);
    person.secret = (await me('POST', '/v1/auth/mfa/setup', { method: 'totp' })).body.secret;
    await app.database.orm.em.execute("update mfa_setup set expires_at = expires_at - interval '15 minutes'");
    expect((await me('POST', '/v1/auth/mfa/setup/confirm', { code: person.code() })).status).toBe(409);
  });

  it.each([
    ['/setup', { method: 'backup_codes' }, 'method', 'isIn'],
    ['/setup', { method: 'sms' }, 'method', 'isIn'],
    ['/setup', {}, 'method', 'isDefined'],
    ['/setup/confirm', {}, 'code', 'isDefined'],
    ['/setup/confirm', { method: 'webauthn' }, 'attestation', 'isDefined'],
    ['/setup/confirm', { attestation: { id: 'x' } }, 'attestation.rawId', 'isDefined'],
    ['/verify', { mfaToken: 'mfa_x', method: 'sms' }, 'method', 'isIn'],
    ['/verify', { method: 'totp', code: '1' }, 'mfaToken', 'isDefined'],
  ])('%s refuses %j', async (path, body, field, constraint) => {
    const answer = await me('POST', `/v1/auth/mfa${path}`, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details).toMatchObject({ field, constraint });
  });

  it('needs a login', async () => {
    for (const [method, path] of [
      ['POST', '/setup'],
      ['POST', '/setup/confirm'],
      ['POST', '/backup-codes'],
      ['DELETE', '/totp'],
    ] as const)
      expect((await person.anonymous(method, `/v1/auth/mfa${path}`, {})).status).toBe(401);
  });

  it('seals the secret and hashes the codes', async () => {
    await person.setUpTotp(me);
    const stored = JSON.stringify([
      await app.database.orm.em.execute('select * from totp_factor'),
      await app.database.orm.em.execute('select * from backup_code'),
      await app.database.orm.em.execute('select * from audit_entry'),
    ]);
    for (const secret of [person.secret, ...person.backupCodes]) expect(stored).not.toContain(secret);
  });
});
