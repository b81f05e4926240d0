import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Answer, type Call, caller } from '../support/rest.js';
import { watchStatements } from '../tickets/statements.js';

let app: TestApp;
let admin: Call;
let manager: Call;
let agent: Call;
let user: Call;
let foreign: Call;
const ids: Record<string, string> = {};
const desks: Record<string, string> = {};

beforeAll(async () => {
  app = await startTestApp();
  const as = async (email: string) => caller(app.url, await app.itsm(email));
  [admin, manager, agent, user, foreign] = await Promise.all([
    as('admin@acme.test'),
    as('manager@acme.test'),
    as('agent@acme.test'),
    as('user@acme.test'),
    as('admin@globex.test'),
  ]);
  for (const { id, email } of await rows('select id, email from "user"')) ids[`${email}`] = `${id}`;
  for (const { id, slug } of await rows(
    'select t.id, o.slug from team t join organization o on o.id = organization_id',
  ))
    desks[`${slug}`] = `${id}`;
});
afterAll(() => app.close());

function rows(sql: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
  return app.database.orm.em.fork().execute(sql, params);
}

const idOf = (email: string) => ids[email] ?? `no ${email}`;

async function add(name: string, memberIds: string[] = []): Promise<{ id: string; name: string }> {
  const { status, body } = await admin('POST', '/v1/teams', { name, memberIds });
  expect(status).toBe(201);
  return body;
}

function expectError({ status, body }: Answer, expected: number, code: string, details?: unknown): void {
  expect([status, body?.error?.code]).toEqual([expected, code]);
  if (details !== undefined) expect(body.error.details).toEqual(details);
}

const names = ({ body }: Answer) => body.data.map(({ name }: { name: string }) => name);

describe('/v1/teams', () => {
  it('creates, reads, changes and removes', async () => {
    const members = [idOf('agent@acme.test'), idOf('user@acme.test')].sort();
    const created = await admin('POST', '/v1/teams', { name: ' Network ', memberIds: members.toReversed() });
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toEqual({
      id: expect.stringMatching(/^team_/),
      name: 'Network',
      memberIds: members,
      createdAt: expect.stringMatching(/Z$/),
    });
    expect(created.headers.get('location')).toBe(`/v1/teams/${id}`);
    expect((await admin('GET', `/v1/teams/${id}`)).body).toEqual(created.body);

    const same = await admin('PATCH', `/v1/teams/${id}`, created.body);
    expect([same.status, same.body]).toEqual([200, created.body]);
    const changed = await admin('PATCH', `/v1/teams/${id}`, { name: 'Networks', memberIds: [members[0]] });
    expect(changed.body).toMatchObject({ name: 'Networks', memberIds: [members[0]] });

    expect((await admin('DELETE', `/v1/teams/${id}`)).status).toBe(204);
    expectError(await admin('GET', `/v1/teams/${id}`), 404, 'NOT_FOUND', { resource: 'team', id });
    expect(await rows('select 1 from team_member where team_id = ?', [id])).toEqual([]);
    const entries = await rows('select action from audit_entry where resource_id = ? order by position', [
      id,
    ]);
    expect(entries.map(({ action }) => action)).toEqual(['teams.created', 'teams.updated', 'teams.deleted']);
  });

  it('tells of everybody who joins or leaves, with all their teams', async () => {
    const id = idOf('user@acme.test');
    const since = (await rows('select coalesce(max(position), 0) as position from event'))[0]?.['position'];
    const team = await add('Joined', [id]);
    await admin('PATCH', `/v1/teams/${team.id}`, { memberIds: [idOf('agent@acme.test')] });
    const told = await rows(
      "select subject_id, payload from event where type = 'user.updated' and position > ? order by position",
      [since],
    );
    const changesOf = (user: string) =>
      told.filter(({ subject_id }) => subject_id === user).map(({ payload }) => payload);
    const actor = { id: idOf('admin@acme.test'), type: 'user' };
    const email = 'user@acme.test';
    expect(changesOf(id)).toEqual([
      { id, email, changes: [{ field: 'teamIds', from: [], to: [team.id] }], actor },
      { id, email, changes: [{ field: 'teamIds', from: [team.id], to: [] }], actor },
    ]);
    expect(changesOf(idOf('agent@acme.test'))).toMatchObject([
      { changes: [{ from: [desks['acme']], to: [desks['acme'], team.id].sort() }] },
    ]);
  });

  it('has one team of a name in an organization, also when many are made at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => admin('POST', '/v1/teams', { name: 'Once' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body.error.details).toEqual({ field: 'name', name: 'Once' });
    expect((await foreign('POST', '/v1/teams', { name: 'Once' })).status).toBe(201);
  });

  it.each([
    [{ name: '' }, 'name', 'isNotEmpty'],
    [{ name: 'x'.repeat(256) }, 'name', 'maxLength'],
    [{ memberIds: ['usr_none'] }, 'memberIds', 'exists'],
    [{ colour: 'red' }, 'colour', 'whitelistValidation'],
  ])('refuses %j', async (change, field, constraint) => {
    const answer = await admin('POST', '/v1/teams', { name: 'Valid', ...change });
    expectError(answer, 400, 'VALIDATION_ERROR', { field, constraint });
  });

  it('keeps a team that has work to do', async () => {
    const team = await add('Busy');
    const ticket = await manager('POST', '/v1/tickets', { title: 'work', teamId: team.id });
    expect(ticket.status).toBe(201);
    expectError(await admin('DELETE', `/v1/teams/${team.id}`), 409, 'CONFLICT', { id: team.id, tickets: 1 });
    await manager('PATCH', `/v1/tickets/${ticket.body.id}`, { status: 'cancelled' });
    expect((await admin('DELETE', `/v1/teams/${team.id}`)).status).toBe(204);
  });

  it('shows an agent all teams and an end user their own', async () => {
    const own = await add('Of the user', [idOf('user@acme.test')]);
    expect(names(await agent('GET', '/v1/teams'))).toEqual(
      expect.arrayContaining(['Service Desk', own.name]),
    );
    const answer = await user('GET', '/v1/teams');
    expect(names(answer)).toEqual([own.name]);
    expect(answer.body.meta.pagination.total).toBe(1);
    const id = desks['acme'] ?? '';
    expectError(await user('GET', `/v1/teams/${id}`), 404, 'NOT_FOUND', { resource: 'team', id });
  });

  it('lets managers change members and administrators everything', async () => {
    const team = await add('Managed');
    expect((await manager('PATCH', `/v1/teams/${team.id}`, { memberIds: [] })).status).toBe(200);
    const needs = (permission: string, currentRole: string) => ({
      requiredPermission: permission,
      requiredRole: permission === 'teams:update:all' ? 'service_desk_manager' : 'tenant_admin',
      currentRole,
    });
    expectError(
      await agent('PATCH', `/v1/teams/${team.id}`, {}),
      403,
      'AUTHORIZATION_ERROR',
      needs('teams:update:all', 'service_desk_agent'),
    );
    expectError(
      await manager('POST', '/v1/teams', { name: 'No' }),
      403,
      'AUTHORIZATION_ERROR',
      needs('teams:create:all', 'service_desk_manager'),
    );
    expectError(
      await manager('DELETE', `/v1/teams/${team.id}`),
      403,
      'AUTHORIZATION_ERROR',
      needs('teams:delete:all', 'service_desk_manager'),
    );
  });

  it('hides the teams of another organization', async () => {
    const id = desks['globex'] ?? '';
    for (const answer of [
      await admin('GET', `/v1/teams/${id}`),
      await admin('PATCH', `/v1/teams/${id}`, { name: 'Mine' }),
      await admin('DELETE', `/v1/teams/${id}`),
    ])
      expectError(answer, 404, 'NOT_FOUND', { resource: 'team', id });
    expectError(await admin('GET', `/v1/teams?starting_after=${id}`), 400, 'VALIDATION_ERROR', {
      field: 'starting_after',
      constraint: 'exists',
    });
    expect(
      names(await admin('GET', '/v1/teams?limit=1000')).filter((name: string) => name === 'Service Desk'),
    ).toHaveLength(1);
    const stranger = idOf('agent@globex.test');
    expectError(
      await admin('POST', '/v1/teams', { name: 'X', memberIds: [stranger] }),
      400,
      'VALIDATION_ERROR',
      {
        field: 'memberIds',
        constraint: 'exists',
      },
    );
  });

  it('sorts by name, and pages in both modes', async () => {
    const whole = names(await admin('GET', '/v1/teams?limit=1000&sortBy=name&sortOrder=asc'));
    expect(whole.length).toBeGreaterThan(3);
    const first = await admin('GET', '/v1/teams?limit=2&sortBy=name&sortOrder=asc');
    expect(names(first)).toEqual(whole.slice(0, 2));
    const after = first.body.data[1].id;
    const next = await admin('GET', `/v1/teams?limit=2&sortBy=name&sortOrder=asc&starting_after=${after}`);
    expect(names(next)).toEqual(whole.slice(2, 4));
    expect(next.body.cursor).toBe(next.body.data[1].id);
    const back = next.body.data[0].id;
    const before = await admin('GET', `/v1/teams?limit=2&sortBy=name&sortOrder=asc&ending_before=${back}`);
    expect(names(before)).toEqual(whole.slice(0, 2));
  });

  it('takes one statement for teams and one for their members', async () => {
    const watch = await watchStatements(app.services.orm);
    const { body } = await admin('GET', '/v1/teams?limit=1000');
    watch.stop();
    expect(body.data.length).toBeGreaterThan(3);
    expect(watch.statements.filter(({ text }) => /from "(team|team_member)"/.test(text))).toHaveLength(2);
  });
});

describe('/v1/organization', () => {
  it('is read by everybody, and only one’s own', async () => {
    for (const call of [admin, manager, agent, user])
      expect((await call('GET', '/v1/organization')).body).toEqual({
        id: expect.stringMatching(/^org_/),
        slug: 'acme',
        name: 'Acme',
        settings: {},
        createdAt: expect.stringMatching(/Z$/),
      });
    expect((await foreign('GET', '/v1/organization')).body.slug).toBe('globex');
  });

  it('is changed by administrators, and written down', async () => {
    const settings = { theme: 'dark', nested: { list: [1, null] } };
    const { body: before } = await admin('GET', '/v1/organization');
    const { status, body } = await admin('PATCH', '/v1/organization', {
      ...before,
      name: 'Acme Inc.',
      settings,
    });
    expect([status, body]).toEqual([200, { ...before, name: 'Acme Inc.', settings }]);
    const [entry] = await rows("select before, after from audit_entry where action = 'organization.updated'");
    expect(entry).toEqual({
      before: { name: 'Acme', settings: {} },
      after: { name: 'Acme Inc.', settings },
    });
    expect((await foreign('GET', '/v1/organization')).body.name).toBe('Globex');
    expectError(await manager('PATCH', '/v1/organization', { name: 'Mine' }), 403, 'AUTHORIZATION_ERROR', {
      requiredPermission: 'organization:update:all',
      requiredRole: 'tenant_admin',
      currentRole: 'service_desk_manager',
    });
  });

  it.each([
    [{ name: '' }, 'name', 'isNotEmpty'],
    [{ name: null }, 'name', 'isNotNull'],
    [{ settings: { big: 'x'.repeat(40_000) } }, 'settings', 'maxLength'],
    [{ plan: 'gold' }, 'plan', 'whitelistValidation'],
  ])('refuses %j', async (change, field, constraint) => {
    const answer = await admin('PATCH', '/v1/organization', change);
    expectError(answer, 400, 'VALIDATION_ERROR', { field, constraint });
  });
});

describe('over GraphQL', () => {
  it('does the same', async () => {
    const graphql = (call: Call, query: string) => call('POST', '/graphql', { query });
    const created = await graphql(
      admin,
      'mutation { createTeam(input: { name: "Graph" }) { id memberIds } }',
    );
    const { id } = created.body.data.createTeam;
    const member = idOf('agent@acme.test');
    const changed = await graphql(
      admin,
      `mutation {
        updateTeam(id: "${id}", input: { memberIds: ["${member}"] }) { memberIds }
        deleteTeam(id: "${id}")
        updateOrganization(input: { settings: { a: 1 } }) { settings }
      }`,
    );
    expect(changed.body.data).toEqual({
      updateTeam: { memberIds: [member] },
      deleteTeam: true,
      updateOrganization: { settings: { a: 1 } },
    });
    const hidden = await graphql(admin, `{ team(id: "${desks['globex']}") { id } }`);
    expect(hidden.body.errors[0].extensions.code).toBe('NOT_FOUND');
    const read = await graphql(user, '{ teams { data { name } } organization { slug } }');
    expect(read.body.data).toEqual({
      teams: { data: [{ name: 'Of the user' }] },
      organization: { slug: 'acme' },
    });
  });
});
