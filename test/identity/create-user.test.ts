import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { caller } from '../support/rest.js';
import { expectError, openUserHouse, type UserHouse } from './user-house.js';

let house: UserHouse;
let app: UserHouse['app'];
let admin: UserHouse['admin'];
let manager: UserHouse['manager'];
let agent: UserHouse['agent'];
let user: UserHouse['user'];
let teams: UserHouse['teams'];
let rows: UserHouse['rows'];
let eventsOf: UserHouse['eventsOf'];
let add: UserHouse['add'];
let invitationOf: UserHouse['invitationOf'];

beforeAll(async () => {
  house = await openUserHouse();
  ({ app, admin, manager, agent, user, teams, rows, eventsOf, add, invitationOf } = house);
});
afterAll(() => house?.close());

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
