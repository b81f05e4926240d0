import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DEMO_PASSWORD } from '../../src/domain/identity/index.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Answer, type Call, caller } from '../support/rest.js';

let app: TestApp;
let admin: Call;

beforeAll(async () => {
  app = await startTestApp();
  admin = caller(app.url, await app.itsm('admin@acme.test'));
});
beforeEach(async () => {
  await app.database.orm.em.execute('update "user" set locked_at = null');
  await app.database.orm.em.execute('delete from login_guard');
});
afterAll(() => app.close());

const logIn = (email: string, password = DEMO_PASSWORD) =>
  caller(app.url)('POST', '/v1/auth/login', { email, password });
const errorOf = ({ status, body }: Answer) => [status, body.error?.code];

async function idOf(email: string): Promise<string> {
  const [row] = await app.database.orm.em.execute<{ id: string }[]>('select id from "user" where email = ?', [
    email,
  ]);
  return row?.id ?? '';
}

async function audited(action: string): Promise<Record<string, unknown>[]> {
  return app.database.orm.em.execute('select * from audit_entry where action = ? order by position', [
    action,
  ]);
}

describe('POST /v1/users/:id/lock', () => {
  it('ends every session at once and keeps the user out until it is undone', async () => {
    const id = await idOf('agent@acme.test');
    const { body: tokens } = await logIn('agent@acme.test');
    await logIn('agent@acme.test');
    const agent = caller(app.url, { authorization: `Bearer ${tokens.accessToken}` });
    expect((await agent('GET', '/v1/tickets')).status).toBe(200);

    const locked = await admin('POST', `/v1/users/${id}/lock`);
    expect(locked).toMatchObject({ status: 200, body: { id, locked: true, sessionsTerminated: 2 } });
    expect(Date.parse(locked.body.lockedAt)).toBeGreaterThan(0);
    expect(errorOf(await agent('GET', '/v1/tickets'))).toEqual([401, 'TOKEN_INVALID']);
    const refresh = { refreshToken: tokens.refreshToken };
    expect(errorOf(await agent('POST', '/v1/auth/refresh', refresh))).toEqual([401, 'TOKEN_INVALID']);

    const refused = await logIn('agent@acme.test');
    expect(errorOf(refused)).toEqual([403, 'ACCOUNT_LOCKED']);
    expect(refused.body.error.details).toBeNull();
    expect(errorOf(await logIn('agent@acme.test', 'wrong'))).toEqual([401, 'AUTHENTICATION_ERROR']);

    const again = await admin('POST', `/v1/users/${id}/lock`);
    expect(again.body).toMatchObject({ lockedAt: locked.body.lockedAt, sessionsTerminated: 0 });
    const unlocked = await admin('POST', `/v1/users/${id}/unlock`);
    expect(unlocked).toMatchObject({ status: 200, body: { id, locked: false, lockedAt: null } });
    expect((await logIn('agent@acme.test')).status).toBe(200);
    expect(await audited('users.locked')).toMatchObject([
      { resource_id: id, after: { sessionsTerminated: 2 } },
    ]);
    expect(await audited('users.unlocked')).toHaveLength(1);
  });

  it('of a lock and twenty logins at once leaves no session alive', async () => {
    const id = await idOf('user@acme.test');
    const [locked, ...logins] = await Promise.all([
      admin('POST', `/v1/users/${id}/lock`),
      ...Array.from({ length: 20 }, () => logIn('user@acme.test')),
    ]);
    expect(locked.status).toBe(200);
    const [{ alive } = { alive: -1 }] = await app.database.orm.em.execute<{ alive: number }[]>(
      'select count(*)::int as alive from session where user_id = ? and revoked_at is null',
      [id],
    );
    expect(alive).toBe(0);
    for (const { status, body } of logins) {
      if (status !== 200) continue;
      const call = caller(app.url, { authorization: `Bearer ${body.accessToken}` });
      expect((await call('GET', '/v1/tickets')).status).toBe(401);
    }
  });

  it('is undone together with the lock of failed logins', async () => {
    for (let n = 0; n < 5; n += 1) await logIn('manager@acme.test', 'wrong');
    expect(errorOf(await logIn('manager@acme.test'))).toEqual([403, 'ACCOUNT_LOCKED']);
    await admin('POST', `/v1/users/${await idOf('manager@acme.test')}/unlock`);
    expect((await logIn('manager@acme.test')).status).toBe(200);
  });

  it('is for administrators, for users of their organization, not above them and not themselves', async () => {
    const id = await idOf('agent@acme.test');
    for (const operation of ['lock', 'unlock']) {
      for (const email of ['agent@acme.test', 'user@acme.test', 'manager@acme.test']) {
        const answer = await caller(app.url, await app.itsm(email))('POST', `/v1/users/${id}/${operation}`);
        expect(errorOf(answer)).toEqual([403, 'AUTHORIZATION_ERROR']);
      }
      expect((await caller(app.url)('POST', `/v1/users/${id}/${operation}`)).status).toBe(401);
      for (const foreign of [await idOf('agent@globex.test'), 'usr_00000000000000000000000000', 'x']) {
        const answer = await admin('POST', `/v1/users/${foreign}/${operation}`);
        expect(errorOf(answer)).toEqual([404, 'NOT_FOUND']);
        expect(answer.body.error.details).toEqual({ resource: 'user', id: foreign });
      }
      const self = await admin('POST', `/v1/users/${await idOf('admin@acme.test')}/${operation}`);
      expect(errorOf(self)).toEqual([409, 'CONFLICT']);
    }
    await app.database.orm.em.execute(`update "user" set role = 'super_admin' where id = ?`, [id]);
    const above = await admin('POST', `/v1/users/${id}/lock`);
    await app.database.orm.em.execute(`update "user" set role = 'service_desk_agent' where id = ?`, [id]);
    expect(errorOf(above)).toEqual([403, 'AUTHORIZATION_ERROR']);
    expect(above.body.error.details).toEqual({ requiredRole: 'super_admin', currentRole: 'tenant_admin' });
    expect((await logIn('agent@globex.test')).status).toBe(200);
  });

  it('is the same over GraphQL', async () => {
    const id = await idOf('agent@acme.test');
    const run = async (query: string) =>
      (await admin('POST', '/graphql', { query, variables: { id } })).body.data;
    expect(await run('mutation ($id: ID!) { lockUser(id: $id) { locked } }')).toEqual({
      lockUser: { locked: true },
    });
    expect(await run('mutation ($id: ID!) { unlockUser(id: $id) { locked } }')).toEqual({
      unlockUser: { locked: false },
    });
  });
});

describe('auditLog', () => {
  const query = `query ($page: Int, $limit: Int) { auditLog(page: $page, limit: $limit) {
    meta { pagination { page total totalPages hasMore } } data { position action actorType previousHash hash } } }`;

  it('is the administrator’s, of the own organization, newest first, in pages', async () => {
    const ask = async (variables: object, call = admin) =>
      (await call('POST', '/graphql', { query, variables })).body;
    const { auditLog } = (await ask({ limit: 2 })).data;
    const { total } = auditLog.meta.pagination;
    expect(auditLog.meta.pagination).toEqual({
      page: 1,
      total,
      totalPages: Math.ceil(total / 2),
      hasMore: true,
    });
    expect(auditLog.data.map(({ position }: { position: number }) => position)).toEqual([total, total - 1]);
    expect(auditLog.data[0].previousHash).toBe(auditLog.data[1].hash);
    const last = (await ask({ limit: 2, page: Math.ceil(total / 2) })).data.auditLog;
    expect(last.data.at(-1)).toMatchObject({ position: 1, previousHash: '0'.repeat(64) });
    expect(last.meta.pagination.hasMore).toBe(false);
    const globex = caller(app.url, await app.itsm('admin@globex.test'));
    expect((await ask({}, globex)).data.auditLog.meta.pagination.total).toBeLessThan(total);
    const manager = await ask({}, caller(app.url, await app.itsm('manager@acme.test')));
    expect(manager.errors[0].extensions.code).toBe('AUTHORIZATION_ERROR');
  });
});
