import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { verifyAuditChain } from '../../src/domain/audit/index.js';
import { DEMO_PASSWORD } from '../../src/domain/identity/index.js';
import { createLogger } from '../../src/logger.js';
import { authorize, REDIRECT_URI } from '../oidc/authorization.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { caller } from '../support/rest.js';
import { Clock, Person } from './mfa-person.js';
import { SoftwareAuthenticator } from './software-authenticator.js';

const ORIGIN = 'http://localhost:4000';
const WRONG_PASSWORD = 'not-the-passw0rd-of-anybody';
const clock = new Clock();
const lines: string[] = [];
let app: TestApp;

beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  // The log as it is in production, but with everything a developer could switch on.
  app = await startTestApp(
    { OPSGRAPH_SECRET_KEY: 'ab'.repeat(32) },
    { log: createLogger({ logLevel: 'trace' }, sink), now: clock.now },
  );
});
afterAll(() => app.close());

/** Everything that was secret on the way, by name. */
const secrets = new Map<string, string>([
  ['the password', DEMO_PASSWORD],
  ['a wrong password', WRONG_PASSWORD],
  ['the installation’s key', 'ab'.repeat(32)],
]);

const SECRET_FIELDS = new Set([
  'accessToken',
  'refreshToken',
  'access_token',
  'mfaToken',
  'secret',
  'key',
  'challenge',
]);

/** Names of the secrets the log holds. */
function found(): string[] {
  const log = lines.join('');
  return [...secrets].filter(([, secret]) => log.includes(secret)).map(([name]) => name);
}

/** Adds what an answer holds under a secret's name. */
function remember(where: string, body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'string' && SECRET_FIELDS.has(name)) secrets.set(`${name} of ${where}`, value);
    if (name === 'backupCodes')
      for (const code of value as string[]) secrets.set(`backup code ${code}`, code);
    remember(where, value);
  }
}

it('writes none of the secrets of a whole day into its log, at the finest level', async () => {
  const person = new Person(app, clock, 'agent@acme.test');
  const admin = caller(app.url, await app.itsm('admin@acme.test'));
  const call = async (who: ReturnType<typeof caller>, method: string, path: string, body?: object) => {
    const answer = await who(method, path, body);
    remember(`${method} ${path}`, answer.body);
    return answer;
  };
  const anonymous = caller(app.url);

  // Passwords, right, wrong and in the wrong places.
  await call(anonymous, 'POST', '/v1/auth/login', { email: person.email, password: WRONG_PASSWORD });
  await call(anonymous, 'POST', '/v1/auth/login', { email: WRONG_PASSWORD, password: WRONG_PASSWORD });
  await call(anonymous, 'POST', '/v1/auth/login', { email: person.email, passwort: WRONG_PASSWORD });
  const { body: tokens } = await call(anonymous, 'POST', '/v1/auth/login', {
    email: person.email,
    password: DEMO_PASSWORD,
  });
  const { body: pair } = await call(anonymous, 'POST', '/v1/auth/refresh', {
    refreshToken: tokens.refreshToken,
  });
  clock.offsetMs += 60_000;
  const reused = await call(anonymous, 'POST', '/v1/auth/refresh', { refreshToken: tokens.refreshToken });
  expect(reused.status).toBe(401);
  await caller(app.url, { authorization: `Bearer ${pair.accessToken}` })('GET', '/v1/tickets');
  await caller(app.url, { authorization: `Bearer ${pair.accessToken.slice(0, -8)}AAAAAAAA` })(
    'GET',
    '/v1/tickets',
  );
  await caller(app.url, { 'x-api-key': 'tnt_0000000000000000000000000000000000' })('GET', '/v1/tickets');
  secrets.set('an API key nobody has', 'tnt_0000000000000000000000000000000000');

  // Second factors.
  const me = await person.authenticated();
  await person.setUpTotp(me);
  secrets.set('the TOTP secret', person.secret);
  for (const code of person.backupCodes) secrets.set(`backup code ${code}`, code);
  const key = new SoftwareAuthenticator();
  const { body: options } = await call(me, 'POST', '/v1/auth/mfa/setup', { method: 'webauthn' });
  await call(me, 'POST', '/v1/auth/mfa/setup/confirm', { attestation: key.create(options, ORIGIN) });
  const { body: renewed } = await call(me, 'POST', '/v1/auth/mfa/backup-codes');
  const login = () =>
    call(anonymous, 'POST', '/v1/auth/login', { email: person.email, password: DEMO_PASSWORD });
  for (const answer of [
    { method: 'totp', code: person.wrongCode() },
    { method: 'totp', code: person.code() },
    { method: 'backup_codes', code: renewed.backupCodes[0] },
    { method: 'sms', code: renewed.backupCodes[1] },
  ]) {
    const { body } = await login();
    await call(anonymous, 'POST', '/v1/auth/mfa/verify', { mfaToken: body.mfaToken, ...answer });
  }
  const { body: challenge } = await login();
  const assertion = key.get(challenge.assertionOptions, ORIGIN);
  const verified = await call(anonymous, 'POST', '/v1/auth/mfa/verify', {
    mfaToken: challenge.mfaToken,
    method: 'webauthn',
    assertion,
  });
  expect(verified.status).toBe(200);

  // The same secrets in a query that is refused and in one that is not.
  const query = `mutation { login(input: { email: "admin@acme.test", password: "${DEMO_PASSWORD}" }) { __typename ... on LoginResult { accessToken refreshToken } } }`;
  await call(anonymous, 'POST', '/graphql', { query });
  await call(anonymous, 'POST', '/graphql', { query: query.replace('login(', 'logIn(') });

  // The issuer.
  const { exchange, url } = await authorize(`${app.url}/oidc`, 'manager@acme.test');
  secrets.set('the authorization code', `${url.searchParams.get('code')}`);
  expect(url.href.startsWith(REDIRECT_URI)).toBe(true);
  remember('the issuer', await exchange());
  remember('client credentials', {
    access_token: (await app.platform('demo-engineer'))['authorization']?.slice(7),
  });

  // What administrators do.
  const [{ id } = { id: '' }] = await app.database.orm.em.execute<{ id: string }[]>(
    'select id from "user" where email = ?',
    [person.email],
  );
  await call(admin, 'POST', `/v1/users/${id}/lock`);
  await call(admin, 'POST', `/v1/users/${id}/unlock`);
  const created = await call(admin, 'POST', '/v1/api-keys', {
    name: 'log test',
    permissions: ['tickets:read:all'],
  });
  expect(created.status).toBe(201);
  const bearer = caller(app.url, { 'x-api-key': created.body.key });
  expect((await bearer('GET', '/v1/tickets')).status).toBe(200);
  await call(admin, 'POST', `/v1/api-keys/${created.body.id}/rotate`);
  await call(admin, 'POST', '/v1/auth/logout');

  const log = lines.join('');
  expect(lines.length).toBeGreaterThan(40);
  expect(log).toContain('/v1/auth/mfa/verify');
  expect(secrets.size).toBeGreaterThan(35);
  expect(found()).toEqual([]);
  expect(log).not.toMatch(/\$argon2|eyJ[\w-]{20}|otpauth:\/\//);
});

it('wrote every security event of it into chains that hold', async () => {
  const { em } = app.database.orm;
  const rows = await em.execute<{ action: string; organization_id: string }[]>(
    'select distinct action, organization_id from audit_entry',
  );
  const actions = new Set(rows.map(({ action }) => action));
  for (const action of [
    'auth.login_succeeded',
    'auth.login_failed',
    'auth.mfa_challenged',
    'auth.mfa_failed',
    'auth.mfa_enabled',
    'auth.mfa_backup_codes_regenerated',
    'auth.refresh_token_reused',
    'auth.logged_out',
    'users.locked',
    'users.unlocked',
  ])
    expect(actions).toContain(action);
  for (const organization of new Set(rows.map(({ organization_id }) => organization_id)))
    expect(await verifyAuditChain(em, organization)).toMatchObject({ intact: true });
});

it('would find one that was logged under an innocent name', () => {
  expect(found()).toEqual([]);
  app.services.log.trace({ remark: `typed ${WRONG_PASSWORD}` }, 'a careless line');
  expect(found()).toEqual(['a wrong password']);
});
