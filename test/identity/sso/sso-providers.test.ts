import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { caller } from '../../support/rest.js';
import { selfSigned } from './certificate.js';
import { openSsoHouse, type SsoHouse } from './sso-house.js';

const PATH = '/v1/sso-providers';
const SECRET = 'never-to-be-read-back';

let house: SsoHouse;

beforeAll(async () => {
  house = await openSsoHouse();
});
beforeEach(async () => {
  await house.app.database.orm.em.execute('delete from sso_provider');
});
afterAll(() => house?.close());

const oidc = (more: object = {}) => ({
  provider: 'oidc',
  name: 'Generic',
  issuer: 'https://login.example/tenant',
  clientId: 'opsgraph',
  clientSecret: SECRET,
  redirectUris: ['https://app.example/signed-in'],
  ...more,
});

const saml = (more: object = {}) => ({
  provider: 'saml',
  name: 'Corporate',
  issuer: 'urn:idp.example',
  entryPoint: 'https://idp.example/sso',
  certificates: [selfSigned('idp.example').certificate],
  ...more,
});

async function sealedSecret(id: string): Promise<string | null> {
  const [row] = await house.app.database.orm.em.execute<{ secret: string | null }[]>(
    'select sealed_client_secret as secret from sso_provider where id = ?',
    [id],
  );
  return row?.secret ?? null;
}

describe('/v1/sso-providers', () => {
  it('creates, shows, lists, changes and deletes, and never shows the secret', async () => {
    const { acmeAdmin } = house;
    const created = await acmeAdmin('POST', PATH, oidc());
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^sso_/),
      provider: 'oidc',
      name: 'Generic',
      enabled: true,
      redirectUris: ['https://app.example/signed-in'],
      issuer: 'https://login.example/tenant',
      clientId: 'opsgraph',
      scopes: ['email'],
      entryPoint: null,
      certificates: [],
      emailDomains: [],
      provisionUsers: false,
      defaultRole: null,
      groupsClaim: null,
      groupRoles: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const path = `${PATH}/${created.body.id}`;
    expect(created.headers.get('location')).toBe(path);
    expect((await acmeAdmin('GET', path)).body).toEqual(created.body);
    expect((await acmeAdmin('GET', PATH)).body).toEqual({
      data: [created.body],
      meta: { pagination: { page: 1, limit: 25, total: 1, totalPages: 1, hasMore: false } },
    });
    const sealed = await sealedSecret(created.body.id);
    expect(sealed).not.toContain(SECRET);

    const back = await acmeAdmin('PATCH', path, created.body);
    expect(back).toMatchObject({ status: 200, body: { ...created.body, updatedAt: expect.any(String) } });
    expect(await sealedSecret(created.body.id)).toBe(sealed);

    expect((await acmeAdmin('DELETE', path)).status).toBe(204);
    expect((await acmeAdmin('GET', path)).status).toBe(404);
    expect((await acmeAdmin('DELETE', path)).status).toBe(404);

    const audit = await house.app.database.orm.em.execute<{ action: string; text: string }[]>(
      `select action, before::text || after::text as text from audit_entry where resource_type = 'sso_provider' order by position`,
    );
    expect(audit.map(({ action }) => action)).toEqual([
      'sso.provider_created',
      'sso.provider_updated',
      'sso.provider_deleted',
    ]);
    expect(JSON.stringify(audit)).not.toContain(SECRET);
  });

  it('has one of each kind, also when two come at once', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => house.acmeAdmin('POST', PATH, saml())));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await house.globexAdmin('POST', PATH, saml())).status).toBe(201);
  });

  it('hands the secret to no other issuer', async () => {
    const { body } = await house.acmeAdmin('POST', PATH, oidc());
    const path = `${PATH}/${body.id}`;
    const moved = { issuer: 'https://evil.example' };
    expect(await house.acmeAdmin('PATCH', path, moved)).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'clientSecret', constraint: 'isDefined' } } },
    });
    expect((await house.acmeAdmin('PATCH', path, { ...moved, clientSecret: null })).status).toBe(200);
    expect(await sealedSecret(body.id)).toBeNull();
    expect((await house.acmeAdmin('PATCH', path, { clientSecret: 'a new one' })).status).toBe(200);
    expect(await sealedSecret(body.id)).not.toBeNull();
  });

  it('puts no secret together with another issuer when two changes come at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { body } = await house.acmeAdmin('POST', PATH, oidc({ clientSecret: undefined }));
      const path = `${PATH}/${body.id}`;
      const [secret, moved] = await Promise.all([
        house.acmeAdmin('PATCH', path, { clientSecret: SECRET }),
        house.acmeAdmin('PATCH', path, { issuer: 'https://evil.example' }),
      ]);
      expect(secret.status).toBe(200);
      // Whoever came first: the issuer stayed, or the secret was meant for the new one.
      expect([200, 400]).toContain(moved.status);
      const { issuer } = (await house.acmeAdmin('GET', path)).body;
      expect(issuer).toBe(moved.status === 200 ? 'https://evil.example' : 'https://login.example/tenant');
      if (moved.status === 200) expect(secret.body.issuer).toBe('https://evil.example');
      await house.acmeAdmin('DELETE', path);
    }
  });

  const wrong: [string, object, string, string][] = [
    ['an unknown kind', oidc({ provider: 'github' }), 'provider', 'isIn'],
    ['no issuer', oidc({ issuer: undefined }), 'issuer', 'isDefined'],
    ['an issuer over http', oidc({ issuer: 'http://login.example' }), 'issuer', 'isHttps'],
    ['an issuer at home', oidc({ issuer: 'https://10.0.0.1' }), 'issuer', 'isPublicHost'],
    ['a metadata service', oidc({ issuer: 'https://169.254.169.254' }), 'issuer', 'isPublicHost'],
    ['a mapped loopback', oidc({ issuer: 'https://[::ffff:127.0.0.2]' }), 'issuer', 'isPublicHost'],
    ['no client', oidc({ clientId: '' }), 'clientId', 'isNotEmpty'],
    [
      'fields of another kind',
      oidc({ entryPoint: 'https://idp.example' }),
      'entryPoint',
      'whitelistValidation',
    ],
    ['groups where none are read', oidc({ groupsClaim: 'groups' }), 'groupsClaim', 'whitelistValidation'],
    ['a scope with a space', oidc({ scopes: ['email profile'] }), 'scopes.0', 'isRegex'],
    [
      'a script for a redirect',
      oidc({ redirectUris: ['javascript:alert(1)'] }),
      'redirectUris.0',
      'isRedirectUri',
    ],
    ['data for a redirect', oidc({ redirectUris: ['data:text/html,x'] }), 'redirectUris.0', 'isRedirectUri'],
    [
      'a redirect over http',
      oidc({ redirectUris: ['http://app.example/'] }),
      'redirectUris.0',
      'isRedirectUri',
    ],
    [
      'a redirect with a fragment',
      oidc({ redirectUris: ['https://a.example/#'] }),
      'redirectUris.0',
      'isRedirectUri',
    ],
    [
      'a redirect with a name',
      oidc({ redirectUris: ['https://a@b.example/'] }),
      'redirectUris.0',
      'isRedirectUri',
    ],
    ['a super_admin by default', oidc({ defaultRole: 'super_admin' }), 'defaultRole', 'isIn'],
    ['no certificate', saml({ certificates: [] }), 'certificates', 'isDefined'],
    ['a certificate that is none', saml({ certificates: ['MIIC'] }), 'certificates.0', 'isCertificate'],
    [
      'a certificate of a short key',
      saml({ certificates: [selfSigned('short', 1_024).certificate] }),
      'certificates.0',
      'isCertificate',
    ],
    ['an entry point over http', saml({ entryPoint: 'http://idp.example' }), 'entryPoint', 'isHttps'],
    [
      'a group that makes a super_admin',
      oidc({ provider: 'workspace-oidc', groupRoles: [{ group: 'g', role: 'super_admin' }] }),
      'groupRoles.0.role',
      'isIn',
    ],
    ['no groups', oidc({ provider: 'workspace-oidc' }), 'groupRoles', 'isDefined'],
  ];
  it.each(wrong)('refuses %s', async (_name, input, field, constraint) => {
    const { status, body } = await house.acmeAdmin('POST', PATH, input);
    expect({
      status,
      field: body.error?.details?.field,
      constraint: body.error?.details?.constraint,
    }).toEqual({
      status: 400,
      field,
      constraint,
    });
  });

  it('takes the redirects applications have', async () => {
    const redirectUris = [
      'https://app.example/cb?x=1',
      'http://127.0.0.1:5000/',
      'http://[::1]/cb',
      'com.example.app:/cb',
    ];
    expect((await house.acmeAdmin('POST', PATH, oidc({ redirectUris }))).body.redirectUris).toEqual(
      redirectUris,
    );
  });

  it("is the administrators', each of their own organization", async () => {
    const { body } = await house.acmeAdmin('POST', PATH, oidc());
    const path = `${PATH}/${body.id}`;
    for (const [method, payload] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
      expect(await house.globexAdmin(method, path, payload)).toMatchObject({
        status: 404,
        body: { error: { code: 'NOT_FOUND', details: { resource: 'sso_provider', id: body.id } } },
      });
    }
    expect((await house.globexAdmin('GET', PATH)).body.data).toEqual([]);
    for (const email of ['manager@acme.test', 'agent@acme.test', 'user@acme.test']) {
      const call = caller(house.app.url, await house.app.itsm(email));
      expect(await call('GET', path)).toMatchObject({
        status: 403,
        body: { error: { code: 'AUTHORIZATION_ERROR', details: { requiredRole: 'tenant_admin' } } },
      });
      expect((await call('POST', PATH, saml())).status).toBe(403);
    }
    expect((await house.anonymous('GET', path)).status).toBe(401);
  });
});

describe('ssoProviders in GraphQL', () => {
  it('does what REST does', async () => {
    const ask = async (query: string, variables: object = {}) =>
      (await house.acmeAdmin('POST', '/graphql', { query, variables })).body;
    const input = oidc({
      provider: 'workspace-oidc',
      groupRoles: [{ group: 'g-1', role: 'service_desk_agent' }],
    });
    const created = await ask(
      'mutation ($input: CreateSsoProviderInput!) { createSsoProvider(input: $input) { id groupsClaim } }',
      { input },
    );
    expect(created.data.createSsoProvider.groupsClaim).toBe('groups');
    const { id } = created.data.createSsoProvider;
    const changed = await ask(
      `mutation ($id: ID!, $input: UpdateSsoProviderInput!) { updateSsoProvider(id: $id, input: $input) { enabled } }`,
      { id, input: { enabled: false } },
    );
    expect(changed.data.updateSsoProvider).toEqual({ enabled: false });
    const read = await ask(
      'query ($id: ID!) { ssoProvider(id: $id) { provider groupRoles { group role } } ssoProviders(limit: 5) { data { id } } }',
      { id },
    );
    expect(read.data).toEqual({
      ssoProvider: { provider: 'workspace-oidc', groupRoles: input['groupRoles' as never] },
      ssoProviders: { data: [{ id }] },
    });
    const secret = await ask('query ($id: ID!) { ssoProvider(id: $id) { sealedClientSecret } }', { id });
    expect(secret.errors[0].message).toMatch(/Cannot query field/);
    const deleted = await ask('mutation ($id: ID!) { deleteSsoProvider(id: $id) { id } }', { id });
    expect(deleted.data.deleteSsoProvider).toEqual({ id });
  });
});
