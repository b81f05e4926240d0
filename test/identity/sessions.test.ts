import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditEntry } from '../../src/entities/audit/audit-entry.js';
import { Session } from '../../src/entities/identity/session.js';
import { User } from '../../src/entities/identity/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Call, caller } from '../support/rest.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let app: TestApp;
let offsetMs = 0;

beforeAll(async () => {
  app = await startTestApp({}, { now: () => new Date(Date.now() + offsetMs) });
});

afterAll(() => app.close());

async function tokens(email: string, deviceFingerprint?: string) {
  const body = { email, password: 'opsgraph-demo', deviceFingerprint };
  const answer = await caller(app.url)('POST', '/v1/auth/login', body);
  expect(answer.status).toBe(200);
  return answer.body as { accessToken: string; refreshToken: string; user: { id: string } };
}

const bearer = (accessToken: string): Call => caller(app.url, { authorization: `Bearer ${accessToken}` });
const refresh = (refreshToken: string, headers: Record<string, string> = {}) =>
  caller(app.url)('POST', '/v1/auth/refresh', { refreshToken }, headers);

function refused(
  answer: { status: number; body: { error: { code: string } } },
  status: number,
  code: string,
) {
  expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
}

async function rowOf(accessToken: string): Promise<Session> {
  const { body } = await bearer(accessToken)('GET', '/v1/auth/sessions');
  const { sessionId } = body.data.find(({ current }: { current: boolean }) => current);
  return app.database.orm.em.fork().findOneOrFail(Session, { id: sessionId }, { filters: false });
}

describe('one’s own sessions', () => {
  it('are listed with the attributes of the document, newest first, and ended one by one', async () => {
    const first = await tokens('user@acme.test', 'laptop');
    const second = await tokens('user@acme.test');
    const call = bearer(second.accessToken);
    const { status, body } = await call('GET', '/v1/auth/sessions');
    expect(status).toBe(200);
    expect(body.meta.pagination).toEqual({ page: 1, limit: 25, total: 2, totalPages: 1, hasMore: false });
    expect(body.data).toEqual([
      {
        sessionId: expect.stringMatching(/^ses_/),
        userId: second.user.id,
        deviceFingerprint: null,
        slidingExpiration: true,
        current: true,
        createdAt: expect.any(String),
        lastUsedAt: null,
        expiresAt: expect.any(String),
      },
      expect.objectContaining({ deviceFingerprint: 'laptop', current: false }),
    ]);
    const [, { sessionId }] = body.data;
    expect((await call('DELETE', `/v1/auth/sessions/${sessionId}`)).status).toBe(204);
    refused(await bearer(first.accessToken)('GET', '/v1/tickets'), 401, 'TOKEN_INVALID');
    refused(await refresh(first.refreshToken), 401, 'TOKEN_INVALID');
    refused(await call('DELETE', `/v1/auth/sessions/${sessionId}`), 404, 'NOT_FOUND');
    expect((await call('GET', '/v1/auth/sessions')).body.data).toHaveLength(1);
  });

  it('are nobody else’s to end or to see', async () => {
    const { accessToken } = await tokens('agent@acme.test');
    const { id, userId } = await rowOf(accessToken);
    for (const email of ['user@acme.test', 'admin@acme.test', 'admin@globex.test']) {
      const other = bearer((await tokens(email)).accessToken);
      refused(await other('DELETE', `/v1/auth/sessions/${id}`), 404, 'NOT_FOUND');
    }
    const user = bearer((await tokens('user@acme.test')).accessToken);
    refused(await user('GET', `/v1/users/${userId}/sessions`), 403, 'AUTHORIZATION_ERROR');
    refused(await user('POST', `/v1/users/${userId}/sessions/revoke`), 403, 'AUTHORIZATION_ERROR');
    const foreign = bearer((await tokens('admin@globex.test')).accessToken);
    refused(await foreign('GET', `/v1/users/${userId}/sessions`), 404, 'NOT_FOUND');
    refused(await foreign('POST', `/v1/users/${userId}/sessions/revoke`), 404, 'NOT_FOUND');
    expect((await bearer(accessToken)('GET', '/v1/tickets')).status).toBe(200);
  });
});

describe('a tenant_admin', () => {
  it('lists and revokes the sessions of a user; many at once count each session once', async () => {
    const signedIn = await Promise.all(Array.from({ length: 5 }, () => tokens('manager@acme.test')));
    const userId = signedIn[0]?.user.id;
    const admin = bearer((await tokens('admin@acme.test')).accessToken);
    const listed = await admin('GET', `/v1/users/${userId}/sessions?limit=2`);
    expect(listed.body).toMatchObject({ meta: { pagination: { total: 5, hasMore: true } } });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => admin('POST', `/v1/users/${userId}/sessions/revoke`)),
    );
    let terminated = 0;
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toEqual({
        revoked: true,
        sessionsTerminated: expect.any(Number),
        message: expect.any(String),
      });
      terminated += body.sessionsTerminated;
    }
    expect(terminated).toBe(5);
    for (const { accessToken } of signedIn)
      refused(await bearer(accessToken)('GET', '/v1/tickets'), 401, 'TOKEN_INVALID');
  });
});

describe('a single access token', () => {
  it('is revoked by its jti while its session lives on', async () => {
    const { accessToken, refreshToken } = await tokens('user@acme.test');
    const next = (await refresh(refreshToken)).body.accessToken;
    const call = bearer(next);
    const revoke = (token: string, by = call) => by('POST', '/v1/auth/tokens/revoke', { token });
    expect((await revoke(accessToken)).body).toEqual({ revoked: true });
    refused(await bearer(accessToken)('GET', '/v1/tickets'), 401, 'TOKEN_INVALID');
    expect((await call('GET', '/v1/tickets')).status).toBe(200);
    expect((await revoke(accessToken)).body).toEqual({ revoked: false });
    const stranger = bearer((await tokens('agent@acme.test')).accessToken);
    refused(await revoke(next, stranger), 403, 'AUTHORIZATION_ERROR');
    const foreign = bearer((await tokens('admin@globex.test')).accessToken);
    refused(await revoke(next, foreign), 403, 'AUTHORIZATION_ERROR');
    const admin = bearer((await tokens('admin@acme.test')).accessToken);
    expect((await revoke(next, admin)).body).toEqual({ revoked: true });
    refused(await call('GET', '/v1/tickets'), 401, 'TOKEN_INVALID');
  });
});

describe('the device', () => {
  it('may be absent, and is refused when it is another one, without using up the refresh token', async () => {
    const { accessToken, refreshToken } = await tokens('agent@acme.test', 'laptop');
    const on = (device: string) =>
      bearer(accessToken)('GET', '/v1/tickets', undefined, { 'x-device-fingerprint': device });
    expect((await bearer(accessToken)('GET', '/v1/tickets')).status).toBe(200);
    expect((await on('laptop')).status).toBe(200);
    refused(await on('phone'), 401, 'AUTHENTICATION_ERROR');
    refused(await refresh(refreshToken, { 'x-device-fingerprint': 'phone' }), 401, 'AUTHENTICATION_ERROR');
    const { id } = await rowOf(accessToken);
    const entries = await app.database.orm.em
      .fork()
      .find(AuditEntry, { resourceId: id, action: 'auth.device_changed' }, { filters: false });
    expect(entries).toHaveLength(2);
    expect((await refresh(refreshToken, { 'x-device-fingerprint': 'laptop' })).status).toBe(200);
    const nameless = await tokens('agent@acme.test');
    const later = await refresh(nameless.refreshToken, { 'x-device-fingerprint': 'phone' });
    expect(later.status).toBe(200);
  });
});

describe('sliding expiration', () => {
  it('moves the end on with each request, written once a minute', async () => {
    const { accessToken } = await tokens('user@globex.test');
    const before = await rowOf(accessToken);
    await eventually(async () => (await rowOf(accessToken)).lastUsedAt !== null);
    const used = await rowOf(accessToken);
    expect(used.expiresAt.getTime()).toBeGreaterThan(before.expiresAt.getTime());
    offsetMs = 5 * MINUTE_MS;
    await eventually(async () => {
      const { expiresAt } = await rowOf(accessToken);
      return expiresAt.getTime() >= used.expiresAt.getTime() + 5 * MINUTE_MS;
    });
    offsetMs = 0;
  });

  it('is off for a super_admin, whose session ends 7 days after the login however much it is used', async () => {
    const em = app.database.orm.em.fork();
    const email = 'manager@globex.test';
    await em.nativeUpdate(User, { email }, { role: 'super_admin' }, { filters: false });
    let pair = await tokens(email);
    const { expiresAt } = await rowOf(pair.accessToken);
    for (let day = 1; day <= 6; day += 1) {
      offsetMs = day * DAY_MS;
      const next = await refresh(pair.refreshToken);
      expect(next.status).toBe(200);
      pair = { ...pair, ...next.body };
    }
    const session = await rowOf(pair.accessToken);
    expect(session).toMatchObject({ slidingExpiration: false, expiresAt });
    offsetMs = 7 * DAY_MS;
    refused(await refresh(pair.refreshToken), 401, 'TOKEN_INVALID');
    offsetMs = 0;
    await em.nativeUpdate(User, { email }, { role: 'service_desk_manager' }, { filters: false });
  });
});
