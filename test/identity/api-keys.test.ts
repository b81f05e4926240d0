import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isApiKey, newApiKey } from '../../src/domain/identity/api-keys/api-key-secret.js';
import { AuditEntry } from '../../src/entities/audit/audit-entry.js';
import { Event } from '../../src/entities/events/event.js';
import { ApiKey } from '../../src/entities/identity/api-key.js';
import { User } from '../../src/entities/identity/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Call, caller } from '../support/rest.js';

let app: TestApp;
let admin: Call;
let globexAdmin: Call;
let anybody: Call;

beforeAll(async () => {
  app = await startTestApp();
  admin = caller(app.url, await app.itsm('admin@acme.test'));
  globexAdmin = caller(app.url, await app.itsm('admin@globex.test'));
  anybody = caller(app.url);
});

afterAll(() => app.close());

const wish = { name: 'importer', permissions: ['tickets:create:all', 'tickets:read:all'] };

async function make(by: Call = admin, more: object = {}) {
  const { status, body } = await by('POST', '/v1/api-keys', { ...wish, ...more });
  expect(status).toBe(201);
  return body as { id: string; key: string };
}

const withKey = (key: string, more: Record<string, string> = {}) =>
  caller(app.url, { 'x-api-key': key, ...more });

function refused(
  answer: { status: number; body: { error: { code: string } } },
  status: number,
  code: string,
) {
  expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status, code });
}

describe('the text of a key', () => {
  it('is tnt_<timestamp><random><hash>, whose hash tells a mistyped one', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('3000-01-01'), noInvalidDate: true }),
        fc.nat({ max: 48 }),
        fc.constantFrom(...'0123456789abcdefghjkmnpqrstvwxyz'),
        (now, place, character) => {
          const key = newApiKey(now);
          expect(key).toMatch(/^tnt_[0-9a-z]{49}$/);
          expect(isApiKey(key)).toBe(true);
          const typed = key.slice(0, 4 + place) + character + key.slice(5 + place);
          expect(isApiKey(typed)).toBe(typed === key);
        },
      ),
    );
    fc.assert(fc.property(fc.string(), (text) => expect(isApiKey(text)).toBe(false)));
  });
});

describe('API keys over REST', () => {
  it('are shown once, stored hashed, and read, listed and changed without the key', async () => {
    const created = await admin('POST', '/v1/api-keys', { ...wish, expiresAt: '2999-01-01T00:00:00.000Z' });
    expect(created.status).toBe(201);
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect(created.body).toMatchObject({
      ...wish,
      key: expect.stringMatching(/^tnt_/),
      rateLimitPerMinute: 600,
      expiresAt: '2999-01-01T00:00:00.000Z',
      lastUsedAt: null,
    });
    const { id, key, ...shown } = created.body;
    const row = await app.database.orm.em.fork().findOneOrFail(ApiKey, { id }, { filters: false });
    expect(JSON.stringify(row)).not.toContain(key);
    expect(row.hash).toHaveLength(43);
    expect((await admin('GET', `/v1/api-keys/${id}`)).body).toEqual({ id, ...shown });
    const list = await admin('GET', '/v1/api-keys?limit=1');
    expect(list.body).toMatchObject({ data: [{ id }], meta: { pagination: { limit: 1, page: 1 } } });
    expect(JSON.stringify(list.body)).not.toContain('tnt_');
    const patched = await admin('PATCH', `/v1/api-keys/${id}`, {
      ...shown,
      name: 'renamed',
      expiresAt: null,
    });
    expect(patched.body).toMatchObject({
      id,
      name: 'renamed',
      permissions: wish.permissions,
      expiresAt: null,
    });
  });

  it.each([
    [{ name: '', permissions: ['tickets:read:all'] }, 'name', 'isNotEmpty'],
    [{ name: 'x', permissions: [] }, 'permissions', 'arrayMinSize'],
    [{ name: 'x', permissions: ['tickets:fly:all'] }, 'permissions.0', 'isIn'],
    [{ ...wish, rateLimitPerMinute: 0 }, 'rateLimitPerMinute', 'min'],
    [{ ...wish, expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt', 'minDate'],
    [{ ...wish, hash: 'mine' }, 'hash', 'whitelistValidation'],
  ])('refuse %j', async (body, field, constraint) => {
    const answer = await admin('POST', '/v1/api-keys', body);
    refused(answer, 400, 'VALIDATION_ERROR');
    expect(answer.body.error.details).toMatchObject({ field, constraint });
  });

  it('let a caller in as their creator, with their permissions and no others', async () => {
    const { id, key } = await make();
    const bearer = withKey(key);
    const ticket = await bearer('POST', '/v1/tickets', { title: 'from a server', priority: 'high' });
    expect(ticket.status).toBe(201);
    const em = app.database.orm.em.fork();
    const creator = await em.findOneOrFail(User, { email: 'admin@acme.test' }, { filters: false });
    expect(ticket.body.requesterId).toBe(creator.id);
    expect((await bearer('GET', '/v1/tickets')).status).toBe(200);
    refused(
      await bearer('PATCH', `/v1/tickets/${ticket.body.id}`, { title: 'x' }),
      403,
      'AUTHORIZATION_ERROR',
    );
    await eventually(async () => {
      const { body } = await admin('GET', `/v1/api-keys/${id}`);
      return body.lastUsedAt !== null;
    });
    const graph = await bearer('POST', '/graphql', { query: '{ tickets { data { id } } }' });
    expect(graph.body.data.tickets.data.length).toBeGreaterThan(0);
    refused(await bearer('GET', '/v1/auth/sessions'), 403, 'AUTHORIZATION_ERROR');
  });

  it('tell of themselves in events', async () => {
    const { id, key } = await make(admin, { permissions: ['tickets:manage:all'] });
    const bearer = withKey(key);
    const ticket = await bearer('POST', '/v1/tickets', { title: 'old', priority: 'low' });
    await bearer('PATCH', `/v1/tickets/${ticket.body.id}`, { title: 'new' });
    const events = await app.database.orm.em
      .fork()
      .find(Event, { type: 'ticket.updated', subjectId: ticket.body.id }, { filters: false });
    expect(events.map(({ payload }) => payload)).toMatchObject([{ actor: { type: 'api_key', id } }]);
  });

  it('hold no permission their creator lacks, neither at first nor later', async () => {
    const em = app.database.orm.em.fork();
    const manager = caller(app.url, await app.itsm('manager@acme.test'));
    refused(await manager('POST', '/v1/api-keys', wish), 403, 'AUTHORIZATION_ERROR');
    const { key } = await make(admin, { permissions: ['api_keys:manage:own', 'tickets:read:own'] });
    const bearer = withKey(key);
    const beyond = await bearer('POST', '/v1/api-keys', { name: 'x', permissions: ['tickets:read:all'] });
    refused(beyond, 403, 'AUTHORIZATION_ERROR');
    expect(beyond.body.error.details).toMatchObject({ missingPermissions: ['tickets:read:all'] });
    const within = await make(bearer, { permissions: ['tickets:read:own'] });
    refused(
      await bearer('PATCH', `/v1/api-keys/${within.id}`, { permissions: ['users:manage:all'] }),
      403,
      'AUTHORIZATION_ERROR',
    );
    const made = await make();
    await em.nativeUpdate(User, { email: 'admin@acme.test' }, { role: 'end_user' }, { filters: false });
    try {
      await eventually(async () => (await withKey(made.key)('GET', '/v1/tickets')).status === 403, 10_000);
    } finally {
      await em.nativeUpdate(User, { email: 'admin@acme.test' }, { role: 'tenant_admin' }, { filters: false });
    }
  });

  it('belong to one organization: another tenant’s slug is 403, none is their own', async () => {
    const { id, key } = await make();
    expect((await withKey(key)('GET', '/v1/tickets')).status).toBe(200);
    expect((await withKey(key, { 'x-tenant-slug': 'acme' })('GET', '/v1/tickets')).status).toBe(200);
    for (const slug of ['globex', 'nobody'])
      refused(
        await withKey(key, { 'x-tenant-slug': slug })('GET', '/v1/tickets'),
        403,
        'AUTHORIZATION_ERROR',
      );
    for (const [method, path] of [
      ['GET', `/v1/api-keys/${id}`],
      ['PATCH', `/v1/api-keys/${id}`],
      ['POST', `/v1/api-keys/${id}/rotate`],
      ['DELETE', `/v1/api-keys/${id}`],
    ] as const)
      refused(
        await globexAdmin(method, path, method === 'PATCH' ? { name: 'x' } : undefined),
        404,
        'NOT_FOUND',
      );
    expect(JSON.stringify((await globexAdmin('GET', '/v1/api-keys')).body)).not.toContain(id);
  });

  it('refuse with one answer what is mistyped, unknown, expired or empty, whatever the cookie', async () => {
    const soon = new Date(Date.now() + 400).toISOString();
    const { key } = await make(admin, { expiresAt: soon });
    expect((await withKey(key)('GET', '/v1/tickets')).status).toBe(200);
    await eventually(async () => (await withKey(key)('GET', '/v1/tickets')).status !== 200);
    refused(await withKey(key)('GET', '/v1/tickets'), 401, 'AUTHENTICATION_ERROR');
    const { authorization } = await app.itsm('admin@acme.test');
    const cookie = `itsm_auth_token=${authorization?.slice('Bearer '.length)}`;
    for (const bad of ['', 'tnt_', `${key.slice(0, -1)}~`, newApiKey(new Date())])
      refused(await withKey(bad, { cookie })('GET', '/v1/tickets'), 401, 'AUTHENTICATION_ERROR');
    refused(await anybody('GET', '/v1/tickets'), 401, 'AUTHENTICATION_ERROR');
    refused(
      await withKey(key, { authorization: 'Bearer nonsense' })('GET', '/v1/tickets'),
      401,
      'TOKEN_INVALID',
    );
    expect((await withKey((await make()).key)('GET', '/api/v1/pipelines')).status).toBe(401);
  });

  it('are good no longer once deleted; the one before not once rotated', async () => {
    const { id, key } = await make();
    const old = withKey(key);
    expect((await old('GET', '/v1/tickets')).status).toBe(200);
    const rotated = await admin('POST', `/v1/api-keys/${id}/rotate`);
    expect(rotated.status).toBe(200);
    expect(rotated.body.key).not.toBe(key);
    refused(await old('GET', '/v1/tickets'), 401, 'AUTHENTICATION_ERROR');
    const fresh = withKey(rotated.body.key);
    expect((await fresh('GET', '/v1/tickets')).status).toBe(200);
    expect((await admin('DELETE', `/v1/api-keys/${id}`)).status).toBe(204);
    refused(await fresh('GET', '/v1/tickets'), 401, 'AUTHENTICATION_ERROR');
    refused(await admin('DELETE', `/v1/api-keys/${id}`), 404, 'NOT_FOUND');
    const entries = await app.database.orm.em
      .fork()
      .find(AuditEntry, { resourceId: id }, { filters: false, orderBy: { position: 'asc' } });
    expect(entries.map(({ action }) => action)).toEqual([
      'api_key.created',
      'api_key.rotated',
      'api_key.deleted',
    ]);
    expect(JSON.stringify(entries)).not.toContain('tnt_');
  });

  it('are rotated by one of twenty who try at once, whose key works', async () => {
    const { id } = await make();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => admin('POST', `/v1/api-keys/${id}/rotate`)),
    );
    const last = answers.filter(({ status }) => status === 200);
    for (const { status } of answers) expect([200, 409]).toContain(status);
    const works = await Promise.all(last.map(({ body }) => withKey(body.key)('GET', '/v1/tickets')));
    expect(works.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('the creator of a key', () => {
  it('takes it along when locked', async () => {
    const em = app.database.orm.em.fork();
    const where = { email: 'manager@acme.test' };
    await em.nativeUpdate(User, where, { role: 'tenant_admin' }, { filters: false });
    const { key } = await make(caller(app.url, await app.itsm(where.email)));
    expect((await withKey(key)('GET', '/v1/tickets')).status).toBe(200);
    const { id } = await em.findOneOrFail(User, where, { filters: false });
    await admin('POST', `/v1/users/${id}/lock`);
    refused(await withKey(key)('GET', '/v1/tickets'), 401, 'AUTHENTICATION_ERROR');
    await admin('POST', `/v1/users/${id}/unlock`);
    expect((await withKey(key)('GET', '/v1/tickets')).status).toBe(200);
    await em.nativeUpdate(User, where, { role: 'service_desk_manager' }, { filters: false });
  });
});

describe('the limit of a key', () => {
  it('is its own', async () => {
    const limited = await startTestApp({ RATE_LIMIT_DISABLED: 'false' });
    const owner = caller(limited.url, await limited.itsm('admin@acme.test'));
    const { body } = await owner('POST', '/v1/api-keys', { ...wish, rateLimitPerMinute: 3 });
    const bearer = caller(limited.url, { 'x-api-key': body.key });
    const answers = await Promise.all(Array.from({ length: 15 }, () => bearer('GET', '/v1/tickets')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refusal = answers.find(({ status }) => status === 429);
    expect(refusal?.body.error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', details: { limit: 3 } });
    expect(refusal?.headers.get('retry-after')).not.toBeNull();
    expect((await owner('GET', '/v1/tickets')).status).toBe(200);
    await limited.close();
  });
});
