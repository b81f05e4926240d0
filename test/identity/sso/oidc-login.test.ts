import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { caller } from '../../support/rest.js';
import { type OidcHouse, openOidcHouse, REFUSED } from './oidc-house.js';
import { CLIENT_ID, type OidcIdentityProvider } from './oidc-identity-provider.js';
import { beginAsClient, browse, callbackUrl, logInWith, type SsoHouse } from './sso-house.js';

const NO_ENTRY = { status: 403, body: { error: { code: 'AUTHORIZATION_ERROR' } } };

let opened: OidcHouse;
let house: SsoHouse;
let idp: OidcIdentityProvider;
let providerIds: OidcHouse['providerIds'];
beforeAll(async () => {
  opened = await openOidcHouse();
  ({ house, idp, providerIds } = opened);
});
afterAll(() => opened?.close());

async function userByEmail(email: string) {
  const { body } = await house.acmeAdmin('GET', `/v1/users?q=${encodeURIComponent(email)}`);
  return body.data[0];
}

describe('a login by directory-oidc', () => {
  it('makes the user the first time and finds them again, and ends as any login does', async () => {
    idp.person = { sub: 'd-1', email: 'New.Hire@acme.test', email_verified: true, name: 'New Hire' };
    const { status, headers, body } = await logInWith(house, 'directory-oidc');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresIn: 900,
      tokenType: 'Bearer',
      user: {
        id: expect.stringMatching(/^usr_/),
        email: 'new.hire@acme.test',
        role: 'service_desk_agent',
        organizationId: expect.stringMatching(/^org_/),
        ssoProvider: 'directory-oidc',
      },
    });
    const call = caller(house.app.url, { authorization: `Bearer ${body.accessToken}` });
    expect((await call('GET', '/v1/users/me')).body).toMatchObject({ name: 'New Hire' });
    expect(
      (await house.anonymous('POST', '/v1/auth/refresh', { refreshToken: body.refreshToken })).status,
    ).toBe(200);

    idp.person = { sub: 'd-1', email: 'renamed@acme.test', email_verified: false };
    expect((await logInWith(house, 'directory-oidc')).body.user).toEqual(body.user);
  });

  it('tells of the new user in the event log, and of each login in the audit log', async () => {
    const events = await house.app.database.orm.em.execute(
      `select payload from event where type = 'user.created' and payload->>'email' = 'new.hire@acme.test'`,
    );
    expect(events).toMatchObject([{ payload: { role: 'service_desk_agent', source: 'directory-oidc' } }]);
    const audit = await house.app.database.orm.em.execute(
      `select after from audit_entry where action = 'auth.login_succeeded' and after->>'method' = 'directory-oidc'`,
    );
    expect(audit).toHaveLength(2);
  });

  it('makes one user of many first logins at once', async () => {
    idp.person = { sub: 'd-many', email: 'many@acme.test', email_verified: true };
    const answers = await Promise.all(Array.from({ length: 8 }, () => logInWith(house, 'directory-oidc')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1);
  });

  it('links a user of the organization by a verified address only', async () => {
    idp.person = { sub: 'd-agent', email: 'agent@acme.test', email_verified: false };
    expect(await logInWith(house, 'directory-oidc')).toMatchObject(NO_ENTRY);
    idp.person = { sub: 'd-agent', email: 'agent@acme.test' };
    expect(await logInWith(house, 'directory-oidc')).toMatchObject(NO_ENTRY);
    idp.person = { sub: 'd-agent', email: 'agent@acme.test', email_verified: true };
    const { body } = await logInWith(house, 'directory-oidc');
    const { id } = await userByEmail('agent@acme.test');
    expect(body.user.id).toBe(id);
    const written = await house.app.database.orm.em.execute(
      `select after->>'subject' as subject from audit_entry
        where action = 'sso.identity_linked' and resource_id = ?`,
      [id],
    );
    expect(written).toEqual([{ subject: 'd-agent' }]);
  });

  it('believes a provider that says nothing for the domains the organization wrote down', async () => {
    const path = `/v1/sso-providers/${providerIds['directory-oidc']}`;
    await house.acmeAdmin('PATCH', path, { emailDomains: ['silent.test'] });
    idp.person = { sub: 'd-silent', email: 'one@silent.test' };
    expect((await logInWith(house, 'directory-oidc')).status).toBe(200);
    idp.person = { sub: 'd-denied', email: 'two@silent.test', email_verified: false };
    expect(await logInWith(house, 'directory-oidc')).toMatchObject(NO_ENTRY);
    for (const email of ['three@other.test', 'three@evil.silent.test', 'three@silent.test@other.test']) {
      idp.person = { sub: 'd-other', email, email_verified: true };
      expect(await logInWith(house, 'directory-oidc')).toMatchObject(NO_ENTRY);
    }
    await house.acmeAdmin('PATCH', path, { emailDomains: [] });
  });

  it("refuses an address of another organization's user, and one that has none, in the same words", async () => {
    idp.person = { sub: 'd-globex', email: 'agent@globex.test', email_verified: true };
    const elsewhere = await logInWith(house, 'directory-oidc');
    idp.person = { sub: 'd-none' };
    const none = await logInWith(house, 'directory-oidc');
    expect([elsewhere, none]).toMatchObject([NO_ENTRY, NO_ENTRY]);
    expect(elsewhere.body.error.message).toBe(none.body.error.message);
  });

  it('lets no provider of an organization log in a super_admin', async () => {
    const { em } = house.app.database.orm;
    await em.execute(`update "user" set role = 'super_admin' where email = 'manager@acme.test'`);
    idp.person = { sub: 'd-super', email: 'manager@acme.test', email_verified: true };
    expect(await logInWith(house, 'directory-oidc')).toMatchObject(NO_ENTRY);
    await em.execute(`update "user" set role = 'service_desk_manager' where email = 'manager@acme.test'`);
  });

  it('lets nobody in whom an administrator keeps out', async () => {
    idp.person = { sub: 'd-locked', email: 'locked@acme.test', email_verified: true };
    const { body } = await logInWith(house, 'directory-oidc');
    await house.acmeAdmin('POST', `/v1/users/${body.user.id}/lock`);
    expect(await logInWith(house, 'directory-oidc')).toMatchObject({
      status: 403,
      body: { error: { code: 'ACCOUNT_LOCKED' } },
    });
    await house.acmeAdmin('POST', `/v1/users/${body.user.id}/unlock`);
    await house.acmeAdmin('DELETE', `/v1/users/${body.user.id}`);
    expect(await logInWith(house, 'directory-oidc')).toMatchObject(REFUSED);
  });
});

describe('a login by workspace-oidc', () => {
  it('takes the highest role of the groups at each login', async () => {
    idp.person = { sub: 'w-1', email: 'w1@acme.test', email_verified: true, groups: ['g-desk', 'other'] };
    expect((await logInWith(house, 'workspace-oidc')).body.user.role).toBe('service_desk_agent');
    idp.person.groups = ['g-desk', 'g-lead'];
    const { body } = await logInWith(house, 'workspace-oidc');
    expect(body.user.role).toBe('service_desk_manager');
    expect(decodeJwt(body.accessToken)['permissions']).toContain('tickets:manage:all');
    idp.person.groups = ['other'];
    expect(await logInWith(house, 'workspace-oidc')).toMatchObject(NO_ENTRY);
    const changed = await house.app.database.orm.em.execute(
      `select payload->'changes' as changes from event where type = 'user.updated' and payload->>'email' = 'w1@acme.test'`,
    );
    expect(changed).toEqual([
      { changes: [{ field: 'role', from: 'service_desk_agent', to: 'service_desk_manager' }] },
    ]);
  });

  it('leaves the last tenant_admin one, whatever the groups say', async () => {
    idp.person = { sub: 'w-admin', email: 'admin@acme.test', email_verified: true, groups: ['g-desk'] };
    expect((await logInWith(house, 'workspace-oidc')).body.user.role).toBe('tenant_admin');
  });
});

describe('a login by oidc', () => {
  it('makes no user, but links one', async () => {
    idp.person = { sub: 'o-1', email: 'stranger@acme.test', email_verified: true };
    expect(await logInWith(house, 'oidc')).toMatchObject(NO_ENTRY);
    idp.person = { sub: 'o-2', email: 'user@acme.test', email_verified: true };
    expect((await logInWith(house, 'oidc')).body.user).toMatchObject({
      role: 'end_user',
      ssoProvider: 'oidc',
    });
  });

  it('answers with the tokens itself when no redirect_uri was named', async () => {
    idp.person = { sub: 'o-2', email: 'user@acme.test', email_verified: true };
    const client = beginAsClient(house.app, 'oidc', { redirect_uri: undefined });
    const { response, html } = await browse(client, 'nowhere:');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(JSON.parse(html)).toMatchObject({ tokenType: 'Bearer', user: { ssoProvider: 'oidc' } });
  });

  it('sends the provider a state, a nonce and a challenge of our own', async () => {
    const client = beginAsClient(house.app, 'oidc');
    const { url } = await browse(client, idp.issuer);
    const sent = Object.fromEntries(url.searchParams);
    expect(sent).toEqual({
      client_id: CLIENT_ID,
      response_type: 'code',
      redirect_uri: callbackUrl(house.app, 'oidc'),
      scope: 'openid email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(sent['state']).not.toBe(client.state);
    expect(client.address).not.toContain(`code_challenge=${sent['code_challenge']}`);
  });
});
