import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/rest.js';
import { watchStatements } from '../tickets/statements.js';
import { expectError, openUserHouse, type UserHouse } from './user-house.js';

let house: UserHouse;
let app: UserHouse['app'];
let admin: UserHouse['admin'];
let manager: UserHouse['manager'];
let agent: UserHouse['agent'];
let user: UserHouse['user'];
let foreign: UserHouse['foreign'];
let teams: UserHouse['teams'];
let idOf: UserHouse['idOf'];
let add: UserHouse['add'];
let invitationOf: UserHouse['invitationOf'];

beforeAll(async () => {
  house = await openUserHouse();
  ({ app, admin, manager, agent, user, foreign, teams, idOf, add, invitationOf } = house);
});
afterAll(() => house?.close());

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
    const more = await Promise.all([add(), add({ teamIds: [teams['acme']] })]);
    // Sending an invitation reads its user too.
    await Promise.all(more.map(({ email }) => invitationOf(email)));
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
