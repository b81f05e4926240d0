import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type MailServer, startMailServer } from '../integrations/smtp/mail-server.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, type Call, caller } from '../support/rest.js';
import { watchStatements } from '../tickets/statements.js';

let mailServer: MailServer;
let app: TestApp;
let admin: Call;
let manager: Call;
let agent: Call;
let user: Call;
let foreign: Call;
const ids: Record<string, string> = {};
const teams: Record<string, string> = {};

beforeAll(async () => {
  mailServer = await startMailServer();
  app = await startTestApp({ SMTP_URL: mailServer.url });
  const as = async (email: string) => caller(app.url, await app.itsm(email));
  [admin, manager, agent, user, foreign] = await Promise.all([
    as('admin@acme.test'),
    as('manager@acme.test'),
    as('agent@acme.test'),
    as('user@acme.test'),
    as('admin@globex.test'),
  ]);
  for (const { id, email } of await rows('select id, email from "user"')) ids[`${email}`] = `${id}`;
  for (const row of await rows(
    'select t.id, o.slug from team t join organization o on o.id = organization_id',
  ))
    teams[`${row['slug']}`] = `${row['id']}`;
});
afterAll(async () => {
  await app.close();
  await mailServer.close();
});

function rows(sql: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
  return app.database.orm.em.fork().execute(sql, params);
}

const eventsOf = (id: string) =>
  rows('select type, payload from event where subject_id = ? order by position', [id]);
const idOf = (email: string) => ids[email] ?? `no ${email}`;

let made = 0;
async function add(fields: object = {}): Promise<{ id: string; email: string }> {
  made += 1;
  const input = { email: `new${made}@acme.test`, name: `New ${made}`, role: 'end_user', ...fields };
  const { status, body } = await admin('POST', '/v1/users', input);
  expect([status, body.error]).toEqual([201, undefined]);
  return body;
}

/** A new user who has followed the link of the invitation. */
async function invited(fields: object = {}): Promise<{ id: string; email: string; token: string }> {
  const { id, email } = await add(fields);
  const token = await invitationOf(email);
  const set = await caller(app.url)('POST', '/v1/auth/password/reset', { token, password: 'opsgraph-demo' });
  expect(set.status).toBe(200);
  return { id, email, token };
}

async function invitationOf(address: string): Promise<string> {
  await eventually(() => mailServer.mails.some(({ to }) => to.includes(address)));
  const mail = mailServer.mails.find(({ to }) => to.includes(address));
  return /#token=([\w-]{43})/.exec(mail?.email.text ?? '')?.[1] ?? '';
}

function expectError({ status, body }: Answer, expected: number, code: string, details?: unknown): void {
  expect([status, body?.error?.code]).toEqual([expected, code]);
  if (details !== undefined) expect(body.error.details).toEqual(details);
}

describe('POST /v1/users', () => {
  it('answers 201 with the record, tells of it and invites', async () => {
    const input = {
      email: ' Nina@Acme.test',
      name: 'Nina',
      role: 'service_desk_agent',
      teamIds: [teams['acme']],
    };
    const { status, headers, body } = await admin('POST', '/v1/users', input);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^usr_[0-9a-hjkmnp-tv-z]{26}$/),
      email: 'nina@acme.test',
      name: 'Nina',
      role: 'service_desk_agent',
      teamIds: [teams['acme']],
      active: true,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(headers.get('location')).toBe(`/v1/users/${body.id}`);
    const payload = {
      id: body.id,
      email: 'nina@acme.test',
      name: 'Nina',
      role: 'service_desk_agent',
      source: 'api',
    };
    expect(await eventsOf(body.id)).toEqual([{ type: 'user.created', payload }]);
    expectError(
      await caller(app.url)('POST', '/v1/auth/login', { email: 'nina@acme.test', password: 'x' }),
      401,
      'AUTHENTICATION_ERROR',
    );

    const token = await invitationOf('nina@acme.test');
    const set = await caller(app.url)('POST', '/v1/auth/password/reset', {
      token,
      password: 'a phrase of Nina',
    });
    expect(set.status).toBe(200);
    const login = await caller(app.url)('POST', '/v1/auth/login', {
      email: 'nina@acme.test',
      password: 'a phrase of Nina',
    });
    expect(login.status).toBe(200);
    expect(
      (
        await rows(
          "select 1 from audit_entry where action = 'auth.invitation_accepted' and resource_id = ?",
          [body.id],
        )
      ).length,
    ).toBe(1);
  });

  it('takes a link of an invitation for seven days and not longer', async () => {
    const { id, email } = await add();
    await invitationOf(email);
    const [row] = await rows(
      'select purpose, extract(epoch from expires_at - created_at)::int as seconds from password_token where user_id = ?',
      [id],
    );
    expect(row).toEqual({ purpose: 'invitation', seconds: 7 * 24 * 3_600 });
  });

  it('answers 409 alike for an address in use here or in another organization', async () => {
    const input = { name: 'X', role: 'end_user' };
    const here = await admin('POST', '/v1/users', { ...input, email: 'agent@acme.test' });
    const there = await admin('POST', '/v1/users', { ...input, email: 'Agent@Globex.test' });
    for (const answer of [here, there]) {
      expectError(answer, 409, 'CONFLICT', { field: 'email' });
      expect(answer.body.error.message).toBe('The e-mail address is in use');
    }
    expect(await rows("select 1 from mail where kind = 'invitation'")).toEqual([]);
  });

  it('lets one of many simultaneous creations with one address win', async () => {
    const input = { email: 'twin@acme.test', name: 'Twin', role: 'end_user' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => admin('POST', '/v1/users', input)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const created = answers.find(({ status }) => status === 201)?.body;
    expect(await eventsOf(created.id)).toHaveLength(1);
  });

  it.each([
    [{ email: 'x' }, 'email', 'isEmail'],
    [{ email: '' }, 'email', 'isNotEmpty'],
    [{ name: ' ' }, 'name', 'isNotEmpty'],
    [{ name: 'x'.repeat(256) }, 'name', 'maxLength'],
    [{ role: 'god' }, 'role', 'isIn'],
    [{ role: undefined }, 'role', 'isDefined'],
    [{ teamIds: ['team_none'] }, 'teamIds', 'exists'],
    [{ password: 'no' }, 'password', 'whitelistValidation'],
  ])('refuses %j', async (change, field, constraint) => {
    const input = { email: 'valid@acme.test', name: 'Valid', role: 'end_user', ...change };
    expectError(await admin('POST', '/v1/users', input), 400, 'VALIDATION_ERROR', { field, constraint });
  });

  it('knows no team of another organization', async () => {
    const input = { email: 'valid@acme.test', name: 'Valid', role: 'end_user', teamIds: [teams['globex']] };
    expectError(await admin('POST', '/v1/users', input), 400, 'VALIDATION_ERROR', {
      field: 'teamIds',
      constraint: 'exists',
    });
  });

  it('is for administrators, and says which role it takes', async () => {
    const input = { email: 'valid@acme.test', name: 'Valid', role: 'end_user' };
    for (const [call, currentRole] of [
      [manager, 'service_desk_manager'],
      [agent, 'service_desk_agent'],
      [user, 'end_user'],
    ] as const)
      expectError(await call('POST', '/v1/users', input), 403, 'AUTHORIZATION_ERROR', {
        requiredPermission: 'users:create:all',
        requiredRole: 'tenant_admin',
        currentRole,
      });
  });

  it('gives no role above the caller’s', async () => {
    const input = { email: 'valid@acme.test', name: 'Valid', role: 'super_admin' };
    expectError(await admin('POST', '/v1/users', input), 403, 'AUTHORIZATION_ERROR', {
      requiredRole: 'super_admin',
      currentRole: 'tenant_admin',
    });
  });
});

describe('GET /v1/users', () => {
  const emails = ({ body }: Answer) => body.data.map(({ email }: { email: string }) => email);

  it('shows everybody in the organization to whom may read all, and nobody else', async () => {
    for (const call of [admin, manager]) {
      const answer = await call('GET', '/v1/users?limit=1000');
      expect(emails(answer)).toEqual(expect.arrayContaining(['admin@acme.test', 'user@acme.test']));
      expect(emails(answer).filter((email: string) => !email.endsWith('@acme.test'))).toEqual([]);
    }
  });

  it('shows an agent whoever shares a team, and an end user themselves', async () => {
    const mate = await add({ teamIds: [teams['acme']] });
    const seen = emails(await agent('GET', '/v1/users'));
    expect(seen).toEqual(expect.arrayContaining(['agent@acme.test', mate.email]));
    expect(seen).not.toContain('user@acme.test');
    const answer = await user('GET', '/v1/users');
    expect(emails(answer)).toEqual(['user@acme.test']);
    expect(answer.body.meta.pagination).toEqual({
      page: 1,
      limit: 25,
      total: 1,
      totalPages: 1,
      hasMore: false,
    });
  });

  it('filters', async () => {
    const filtered = async (query: string) => emails(await admin('GET', `/v1/users?limit=1000&${query}`));
    expect(await filtered('role=tenant_admin,service_desk_manager')).toEqual(
      expect.arrayContaining(['admin@acme.test', 'manager@acme.test']),
    );
    expect(await filtered('role=service_desk_manager')).toEqual(['manager@acme.test']);
    expect(await filtered('q=GWEN')).toEqual(['agent@acme.test']);
    expect(await filtered('q=%25')).toEqual([]);
    expect(await filtered(`teamId=${teams['acme']}`)).toContain('agent@acme.test');
    expect(await filtered(`teamId=${teams['acme']}`)).not.toContain('user@acme.test');
    expect(await filtered(`teamId=${teams['globex']}`)).toEqual([]);
    expect(await filtered('active=false')).toEqual([]);
  });

  it.each(['createdAt', 'updatedAt', 'email', 'name'])(
    'walks a list by %s without gap or twin',
    async (sortBy) => {
      const whole = emails(await admin('GET', `/v1/users?limit=1000&sortBy=${sortBy}&sortOrder=asc`));
      const seen: string[] = [];
      let cursor = '';
      for (let more = true; more; ) {
        const { body } = await admin('GET', `/v1/users?limit=3&sortBy=${sortBy}&sortOrder=asc${cursor}`);
        seen.push(...body.data.map(({ email }: { email: string }) => email));
        more = body.hasMore ?? body.meta.pagination.hasMore;
        cursor = `&starting_after=${body.data.at(-1)?.id}`;
      }
      expect(seen).toEqual(whole);
      expect(body(await admin('GET', `/v1/users?limit=1&page=9999`))).toMatchObject({
        data: [],
        meta: { pagination: { total: whole.length } },
      });
    },
  );

  it('knows no cursor of another organization', async () => {
    const answer = await admin('GET', `/v1/users?starting_after=${idOf('admin@globex.test')}`);
    expectError(answer, 400, 'VALIDATION_ERROR', { field: 'starting_after', constraint: 'exists' });
  });

  it('takes one statement for users and one for their teams, however many there are', async () => {
    const watch = await watchStatements(app.services.orm);
    const { body: page } = await admin('GET', '/v1/users?limit=1000');
    watch.stop();
    const asked = watch.statements.filter(({ text }) => /from "(user|team_member)"/.test(text));
    expect(page.data.length).toBeGreaterThan(5);
    expect(asked).toHaveLength(2);
  });

  const body = (answer: Answer) => answer.body;
});

describe('GET /v1/users/:id and /me', () => {
  it('answers whoever asks with themselves', async () => {
    for (const [call, email] of [
      [admin, 'admin@acme.test'],
      [user, 'user@acme.test'],
      [foreign, 'admin@globex.test'],
    ] as const)
      expect((await call('GET', '/v1/users/me')).body).toMatchObject({ id: idOf(email), email });
  });

  it('answers 404 for whom the caller may not see, like for nobody', async () => {
    const absent = [
      [admin, idOf('admin@globex.test')],
      [foreign, idOf('user@acme.test')],
      [user, idOf('agent@acme.test')],
      [agent, idOf('user@acme.test')],
      [admin, 'usr_00000000000000000000000000'],
      [admin, 'nonsense'],
    ] as const;
    for (const [call, id] of absent)
      expectError(await call('GET', `/v1/users/${id}`), 404, 'NOT_FOUND', { resource: 'user', id });
  });
});

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
