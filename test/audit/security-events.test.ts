import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEMO_PASSWORD } from '../../src/domain/identity/index.js';
import { Clock, Person } from '../identity/mfa-person.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Call, caller } from '../support/rest.js';

const root = path.resolve(import.meta.dirname, '../..');
const clock = new Clock();
let app: TestApp;
let admin: Call;

beforeAll(async () => {
  app = await startTestApp({}, { now: clock.now });
  admin = caller(app.url, await app.itsm('admin@acme.test'));
});
afterAll(() => app.close());

async function actions(): Promise<string[]> {
  const rows = await app.database.orm.em.execute<{ action: string }[]>(
    `select action from audit_entry
      where organization_id = (select id from organization where slug = 'acme') order by position`,
  );
  return rows.map(({ action }) => action);
}

/** What was written down while the work was done. */
async function written(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await actions()).length;
  await work();
  return (await actions()).slice(before);
}

it('tells of users who come, change and go', async () => {
  const fields = { email: 'somebody@acme.test', name: 'Some Body', role: 'end_user' };
  let id = '';
  expect(
    await written(async () => {
      id = (await admin('POST', '/v1/users', fields)).body.id;
    }),
  ).toEqual(['users.created']);
  const change = { role: 'service_desk_agent' };
  expect(await written(() => admin('PATCH', `/v1/users/${id}`, change))).toEqual(['users.updated']);
  expect(await written(() => admin('DELETE', `/v1/users/${id}`))).toEqual(['users.deactivated']);
});

it('tells of every change of an API key', async () => {
  const fields = { name: 'audited', permissions: ['tickets:read:all'] };
  let id = '';
  expect(
    await written(async () => {
      id = (await admin('POST', '/v1/api-keys', fields)).body.id;
    }),
  ).toEqual(['api_key.created']);
  const key = `/v1/api-keys/${id}`;
  expect(await written(() => admin('PATCH', key, { name: 'renamed' }))).toEqual(['api_key.updated']);
  expect(await written(() => admin('POST', `${key}/rotate`))).toEqual(['api_key.rotated']);
  expect(await written(() => admin('DELETE', key))).toEqual(['api_key.deleted']);
});

it('tells of sessions and tokens that are revoked', async () => {
  const logIn = async () =>
    (
      await caller(app.url)('POST', '/v1/auth/login', {
        email: 'agent@acme.test',
        password: DEMO_PASSWORD,
      })
    ).body;
  const { accessToken, user } = await logIn();
  const me = caller(app.url, { authorization: `Bearer ${accessToken}` });
  const { body: sessions } = await me('GET', '/v1/auth/sessions');
  const own = `/v1/auth/sessions/${sessions.data[0].sessionId}`;
  expect(await written(() => me('DELETE', own))).toEqual(['auth.session_revoked']);
  const { accessToken: token } = await logIn();
  expect(await written(() => admin('POST', '/v1/auth/tokens/revoke', { token }))).toEqual([
    'auth.token_revoked',
  ]);
  expect(await written(() => admin('POST', `/v1/users/${user.id}/sessions/revoke`))).toEqual([
    'auth.sessions_revoked',
  ]);
});

it('tells of linked identities and removed factors', async () => {
  const person = new Person(app, clock, 'manager@acme.test');
  const me = await person.authenticated();
  const { authorization } = await app.platform('demo-engineer');
  const platformToken = authorization?.slice('Bearer '.length);
  let id = '';
  expect(
    await written(async () => {
      id = (await me('POST', '/v1/auth/identities/link', { platformToken })).body.id;
    }),
  ).toEqual(['auth.identity_linked']);
  expect(await written(() => me('DELETE', `/v1/auth/identities/${id}`))).toEqual(['auth.identity_unlinked']);
  expect(await written(() => person.setUpTotp(me))).toEqual(['auth.mfa_enabled']);
  expect(await written(() => me('DELETE', '/v1/auth/mfa/totp'))).toEqual(['auth.mfa_disabled']);
});

it('has the names that the document lists, and no others', async () => {
  const named = /'((?:auth|users|api_key|sso|organization|teams|super_admin|signing_key)\.[a-z_]+)'/g;
  const directory = path.join(root, 'src/domain/identity');
  const files = await readdir(directory, { recursive: true });
  const sources = await Promise.all(
    files.filter((file) => file.endsWith('.ts')).map((file) => readFile(path.join(directory, file), 'utf8')),
  );
  const inCode = new Set(sources.flatMap((text) => [...text.matchAll(named)].map(([, name]) => name)));
  const document = await readFile(path.join(root, 'docs/decisions/account-safety.md'), 'utf8');
  const table = document.slice(document.indexOf('| action | when |'));
  const listed = [...table.matchAll(/[a-z_]+\.[a-z_]+(?=[ ,|])/g)].map(([name]) => name);
  expect(listed.sort()).toEqual([...inCode].sort());
});
