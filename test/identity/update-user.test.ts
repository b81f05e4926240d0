import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { eventually } from '../support/eventually.js';
import { type Call, caller } from '../support/rest.js';
import { expectError, openUserHouse, type UserHouse } from './user-house.js';

let house: UserHouse;
let app: UserHouse['app'];
let mailServer: UserHouse['mailServer'];
let admin: UserHouse['admin'];
let user: UserHouse['user'];
let foreign: UserHouse['foreign'];
let teams: UserHouse['teams'];
let idOf: UserHouse['idOf'];
let rows: UserHouse['rows'];
let eventsOf: UserHouse['eventsOf'];
let add: UserHouse['add'];
let invitationOf: UserHouse['invitationOf'];
let invited: UserHouse['invited'];

beforeAll(async () => {
  house = await openUserHouse();
  ({ app, mailServer, admin, user, foreign, teams, idOf, rows, eventsOf, add, invitationOf, invited } =
    house);
});
afterAll(() => house?.close());

describe('PATCH /v1/users/:id', () => {
  it('changes what is named and tells exactly that', async () => {
    const { id, email } = await add();
    await admin('PATCH', `/v1/users/${id}`, {
      name: 'Renamed',
      role: 'service_desk_agent',
      teamIds: [teams['acme']],
    });
    const [, event] = await eventsOf(id);
    expect(event).toEqual({
      type: 'user.updated',
      payload: {
        id,
        email,
        changes: [
          { field: 'name', from: expect.stringMatching(/^New/), to: 'Renamed' },
          { field: 'role', from: 'end_user', to: 'service_desk_agent' },
          { field: 'teamIds', from: [], to: [teams['acme']] },
        ],
        actor: { id: idOf('admin@acme.test'), type: 'user' },
      },
    });
    const [entry] = await rows(
      "select * from audit_entry where action = 'users.updated' and resource_id = ?",
      [id],
    );
    expect(entry).toMatchObject({ before: { role: 'end_user' }, after: { role: 'service_desk_agent' } });
  });

  it('changes nothing when what GET answered comes back', async () => {
    const { id } = await add({ teamIds: [teams['acme']] });
    const { body: before } = await admin('GET', `/v1/users/${id}`);
    const { status, body } = await admin('PATCH', `/v1/users/${id}`, before);
    expect([status, body]).toEqual([200, before]);
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('leaves a token the permissions it has; the next one has the new', async () => {
    const { id, email } = await invited();
    const { body: first } = await caller(app.url)('POST', '/v1/auth/login', {
      email,
      password: 'opsgraph-demo',
    });
    const before = caller(app.url, { authorization: `Bearer ${first.accessToken}` });
    await admin('PATCH', `/v1/users/${id}`, { role: 'service_desk_manager' });
    expect((await before('GET', '/v1/users')).body.data).toHaveLength(1);
    const { body: second } = await caller(app.url)('POST', '/v1/auth/refresh', {
      refreshToken: first.refreshToken,
    });
    expect(decodeJwt(second.accessToken)['role']).toBe('service_desk_manager');
    const after = caller(app.url, { authorization: `Bearer ${second.accessToken}` });
    expect((await after('GET', '/v1/users')).body.data.length).toBeGreaterThan(1);
  });

  it('touches nobody of a higher role', async () => {
    const { id } = await add();
    await rows('update "user" set role = \'super_admin\' where id = ? returning 1', [id]);
    const details = { requiredRole: 'super_admin', currentRole: 'tenant_admin' };
    expectError(
      await admin('PATCH', `/v1/users/${id}`, { name: 'Mine' }),
      403,
      'AUTHORIZATION_ERROR',
      details,
    );
    expectError(await admin('DELETE', `/v1/users/${id}`), 403, 'AUTHORIZATION_ERROR', details);
    expectError(
      await admin('PATCH', `/v1/users/${idOf('user@acme.test')}`, { role: 'super_admin' }),
      403,
      'AUTHORIZATION_ERROR',
      details,
    );
    await rows('delete from "user" where id = ? returning 1', [id]);
  });

  it('answers 409 for an address in use anywhere, and tells the old address of a new one', async () => {
    const { id, email } = await add();
    expectError(await admin('PATCH', `/v1/users/${id}`, { email: 'user@globex.test' }), 409, 'CONFLICT', {
      field: 'email',
    });
    const invitation = await invitationOf(email);
    const { status } = await admin('PATCH', `/v1/users/${id}`, { email: `moved-${email}` });
    expect(status).toBe(200);
    await eventually(() =>
      mailServer.mails.some(
        ({ to, email: mail }) => to.includes(email) && mail.subject?.includes('was changed') === true,
      ),
    );
    const late = await caller(app.url)('POST', '/v1/auth/password/reset', {
      token: invitation,
      password: 'a late phrase here',
    });
    expectError(late, 401, 'TOKEN_INVALID');
  });

  it('answers 404 for another organization’s user, who stays as they are', async () => {
    const id = idOf('user@globex.test');
    expectError(await admin('PATCH', `/v1/users/${id}`, { name: 'Mine' }), 404, 'NOT_FOUND', {
      resource: 'user',
      id,
    });
    expectError(await admin('DELETE', `/v1/users/${id}`), 404, 'NOT_FOUND', { resource: 'user', id });
    expect((await foreign('GET', `/v1/users/${id}`)).body).toMatchObject({ name: 'Uma User', active: true });
  });
});

describe('DELETE /v1/users/:id', () => {
  it('deactivates: no session, no token, no login, no link', async () => {
    const { id, email } = await invited();
    const { body: session } = await caller(app.url)('POST', '/v1/auth/login', {
      email,
      password: 'opsgraph-demo',
    });
    const call = caller(app.url, { authorization: `Bearer ${session.accessToken}` });
    expect((await call('GET', '/v1/users/me')).status).toBe(200);

    const { status, body } = await admin('DELETE', `/v1/users/${id}`);
    expect([status, body]).toEqual([204, undefined]);
    expectError(await call('GET', '/v1/users/me'), 401, 'TOKEN_INVALID');
    const refreshed = await caller(app.url)('POST', '/v1/auth/refresh', {
      refreshToken: session.refreshToken,
    });
    expectError(refreshed, 401, 'TOKEN_INVALID');
    const login = await caller(app.url)('POST', '/v1/auth/login', { email, password: 'opsgraph-demo' });
    expectError(login, 401, 'AUTHENTICATION_ERROR');
    expect((await admin('GET', `/v1/users/${id}`)).body.active).toBe(false);
    expect((await eventsOf(id)).at(-1)?.['payload']).toMatchObject({
      changes: [{ field: 'active', from: true, to: false }],
    });

    expect((await admin('DELETE', `/v1/users/${id}`)).status).toBe(204);
    expect(await eventsOf(id)).toHaveLength(2);
    expect((await admin('PATCH', `/v1/users/${id}`, { active: true })).status).toBe(200);
    const again = await caller(app.url)('POST', '/v1/auth/login', { email, password: 'opsgraph-demo' });
    expect(again.status).toBe(200);
  });
});

describe('the last tenant_admin', () => {
  const adminId = () => idOf('admin@acme.test');
  const second: { id?: string } = {};
  afterEach(async () => {
    await rows(
      "update \"user\" set role = 'tenant_admin', active = true where email = 'admin@acme.test' returning 1",
    );
    if (second.id) await rows('delete from "user" where id = ? returning 1', [second.id]);
  });

  it('stays one', async () => {
    for (const answer of [
      await admin('PATCH', `/v1/users/${adminId()}`, { role: 'service_desk_manager' }),
      await admin('PATCH', `/v1/users/${adminId()}`, { active: false }),
      await admin('DELETE', `/v1/users/${adminId()}`),
    ])
      expectError(answer, 409, 'CONFLICT', { id: adminId(), role: 'tenant_admin' });
  });

  it('is never lost when two lock each other at once', async () => {
    const { id, email } = await invited({ role: 'tenant_admin' });
    second.id = id;
    const other = caller(app.url, await app.itsm(email));
    const answers = await Promise.all([
      admin('POST', `/v1/users/${id}/lock`),
      other('POST', `/v1/users/${adminId()}/lock`),
    ]);
    expect(answers.map(({ status }) => status)).toContain(200);
    const left = await rows(
      "select 1 from \"user\" where role = 'tenant_admin' and locked_at is null and email like '%@acme.test'",
    );
    expect(left).toHaveLength(1);
    await rows('update "user" set locked_at = null returning 1');
    admin = caller(app.url, await app.itsm('admin@acme.test'));
  });

  it('is never lost when two demote each other at once', async () => {
    const { id, email } = await invited({ role: 'tenant_admin' });
    second.id = id;
    const other = caller(app.url, await app.itsm(email));
    const answers = await Promise.all([
      admin('PATCH', `/v1/users/${id}`, { role: 'end_user' }),
      other('PATCH', `/v1/users/${adminId()}`, { role: 'end_user' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const left = await rows(
      "select 1 from \"user\" where role = 'tenant_admin' and active and email like '%@acme.test'",
    );
    expect(left).toHaveLength(1);
  });
});

describe('over GraphQL', () => {
  const graphql = (call: Call, query: string, variables: object = {}) =>
    call('POST', '/graphql', { query, variables });

  it('creates, reads, changes and deactivates', async () => {
    const created = await graphql(
      admin,
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { id teamIds } }',
      {
        input: { email: 'graph@acme.test', name: 'Graph', role: 'end_user', teamIds: [teams['acme']] },
      },
    );
    const { id } = created.body.data.createUser;
    expect(created.body.data.createUser.teamIds).toEqual([teams['acme']]);
    const changed = await graphql(
      admin,
      `mutation ($id: ID!) {
        updateUser(id: $id, input: { teamIds: [] }) { teamIds }
        deactivateUser(id: $id) { active teamIds }
      }`,
      { id },
    );
    expect(changed.body).toEqual({
      data: { updateUser: { teamIds: [] }, deactivateUser: { active: false, teamIds: [] } },
    });
    const read = await graphql(admin, 'query ($id: ID!) { user(id: $id) { active } me { email } }', { id });
    expect(read.body.data).toEqual({ user: { active: false }, me: { email: 'admin@acme.test' } });
  });

  it('refuses and hides as REST does', async () => {
    const id = idOf('user@globex.test');
    const READ = 'query ($id: ID!) { user(id: $id) { email } }';
    const { body } = await graphql(admin, READ, { id });
    expect(body.errors[0].extensions).toMatchObject({ code: 'NOT_FOUND', details: { resource: 'user', id } });
    const forbidden = await graphql(user, 'mutation ($id: ID!) { deactivateUser(id: $id) { id } }', { id });
    expect(forbidden.body.errors[0].extensions).toMatchObject({
      code: 'AUTHORIZATION_ERROR',
      details: {
        requiredPermission: 'users:delete:all',
        requiredRole: 'tenant_admin',
        currentRole: 'end_user',
      },
    });
    const listed = await graphql(user, '{ users { data { email } meta { pagination { total } } } }');
    expect(listed.body.data.users).toEqual({
      data: [{ email: 'user@acme.test' }],
      meta: { pagination: { total: 1 } },
    });
  });
});
