import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Call, caller } from '../support/rest.js';

let app: TestApp;
let superAdmin: Call;
let admin: Call;
let superAdminId: string;
const globex = { 'x-tenant-slug': 'globex' };

beforeAll(async () => {
  app = await startTestApp();
  // Nobody can give this role who has not got it: an installation's first one is made in the database.
  const [row] = await rows(
    "update \"user\" set role = 'super_admin' where email = 'manager@acme.test' returning id",
  );
  superAdminId = `${row?.['id']}`;
  superAdmin = caller(app.url, await app.itsm('manager@acme.test'));
  admin = caller(app.url, await app.itsm('admin@acme.test'));
});
afterAll(() => app.close());

function rows(sql: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
  return app.database.orm.em.fork().execute(sql, params);
}

const entries = () =>
  rows(
    `select o.slug, e.actor_type, e.actor_id, e.after, e.request_id from audit_entry e
     join organization o on o.id = e.organization_id
     where action = 'super_admin.cross_tenant' order by e.position`,
  );

describe('X-Tenant-Slug of a super_admin', () => {
  it('selects the organization for one request, which is written down there each time', async () => {
    const home = await superAdmin('GET', '/v1/organization');
    expect(home.body.slug).toBe('acme');
    expect(await entries()).toEqual([]);
    const away = await superAdmin('GET', '/v1/organization', undefined, globex);
    expect(away.body.slug).toBe('globex');
    const again = await superAdmin('GET', '/v1/users?limit=1000', undefined, globex);
    const emails = again.body.data.map(({ email }: { email: string }) => email);
    expect(emails.every((email: string) => email.endsWith('@globex.test'))).toBe(true);
    const graph = await superAdmin(
      'POST',
      '/graphql',
      { query: '{ organization { slug } me { email } }' },
      globex,
    );
    expect(graph.body.errors).toBeUndefined();
    expect(graph.body.data).toEqual({ organization: { slug: 'globex' }, me: { email: 'manager@acme.test' } });
    const homeOrganizationId = home.body.id;
    expect(await entries()).toEqual(
      ['GET /v1/organization', 'GET /v1/users', '/graphql'].map((operation) => ({
        slug: 'globex',
        actor_type: 'user',
        actor_id: superAdminId,
        after: { operation, homeOrganizationId },
        request_id: expect.any(String),
      })),
    );
  });

  it('reaches what it names and nothing of home', async () => {
    const [stranger] = await rows('select id from "user" where email = \'user@globex.test\'');
    const id = `${stranger?.['id']}`;
    expect((await superAdmin('GET', `/v1/users/${id}`)).status).toBe(404);
    const changed = await superAdmin('PATCH', `/v1/users/${id}`, { name: 'Renamed' }, globex);
    expect([changed.status, changed.body.name]).toEqual([200, 'Renamed']);
    expect((await superAdmin('GET', `/v1/users/${superAdminId}`, undefined, globex)).status).toBe(404);
    const made = await superAdmin(
      'POST',
      '/v1/users',
      { email: 'boss@globex.test', name: 'Boss', role: 'super_admin' },
      globex,
    );
    expect(made.status).toBe(201);
    const [row] = await rows(
      'select o.slug from "user" u join organization o on o.id = u.organization_id where u.id = ?',
      [made.body.id],
    );
    expect(row).toEqual({ slug: 'globex' });
    // Without SMTP_URL the invitation is a file.
    const directory = path.join(app.dataDir, 'mail');
    const texts = async () => {
      const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.eml'));
      return Promise.all(names.map((name) => readFile(path.join(directory, name), 'utf8')));
    };
    await eventually(async () => (await texts()).some((text) => text.includes('To: boss@globex.test')));
  });

  it('is not cross-tenant when it names home, and nothing when it names nobody', async () => {
    const before = (await entries()).length;
    const home = await superAdmin('GET', '/v1/organization', undefined, { 'x-tenant-slug': 'acme' });
    expect(home.body.slug).toBe('acme');
    const nowhere = await superAdmin('GET', '/v1/organization', undefined, { 'x-tenant-slug': 'nowhere' });
    expect([nowhere.status, nowhere.body.error.details]).toEqual([
      404,
      { resource: 'organization', id: 'nowhere' },
    ]);
    expect(await entries()).toHaveLength(before);
  });

  it('does not come before the claim of anybody else’s token', async () => {
    const before = (await entries()).length;
    const { body } = await admin('GET', '/v1/organization', undefined, globex);
    expect(body.slug).toBe('acme');
    expect(await entries()).toHaveLength(before);
  });

  it('opens nothing when it cannot be written down', async () => {
    await rows('alter table audit_chain rename to audit_chain_away');
    try {
      expect((await superAdmin('GET', '/v1/organization', undefined, globex)).status).toBe(500);
      expect((await superAdmin('GET', '/v1/organization')).status).toBe(200);
    } finally {
      await rows('alter table audit_chain_away rename to audit_chain');
    }
  });
});

describe('what a super_admin does to their own account while away', () => {
  it('happens at home', async () => {
    const headers = await app.itsm('manager@acme.test');
    const call = caller(app.url, { ...headers, ...globex });
    const input = { current: 'opsgraph-demo', password: 'a phrase from away' };
    expect((await call('POST', '/v1/auth/password/change', input)).status).toBe(200);
    const login = { email: 'manager@acme.test', password: 'a phrase from away' };
    const { body } = await caller(app.url)('POST', '/v1/auth/login', login);
    const again = caller(app.url, { authorization: `Bearer ${body.accessToken}`, ...globex });
    expect((await again('POST', '/v1/auth/logout')).body.sessionsTerminated).toBe(2);
    expect((await again('GET', '/v1/users/me')).status).toBe(401);
  });
});

describe('the session of a super_admin', () => {
  it('does not slide', async () => {
    const slides = await rows(
      'select distinct u.role, s.sliding_expiration as slides from session s join "user" u on u.id = s.user_id order by 1',
    );
    expect(slides).toEqual([
      { role: 'super_admin', slides: false },
      { role: 'tenant_admin', slides: true },
    ]);
  });
});
