import { createServer } from 'node:http';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { pino } from 'pino';
import { Browser } from '../../oidc/browser.js';
import { listen } from '../../oidc/served-issuer.js';
import { caller } from '../../support/rest.js';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type OidcIdentityProvider,
  startOidcIdentityProvider,
} from './oidc-identity-provider.js';
import {
  beginAsClient,
  browse,
  CLIENT_REDIRECT,
  callbackUrl,
  logInWith,
  openSsoHouse,
  type SsoHouse,
} from './sso-house.js';

const REFUSED = { status: 401, body: { success: false, error: { code: 'AUTHENTICATION_ERROR' } } };
const NO_ENTRY = { status: 403, body: { error: { code: 'AUTHORIZATION_ERROR' } } };

const logged: string[] = [];
let house: SsoHouse;
let idp: OidcIdentityProvider;
const providerIds: Record<string, string> = {};

beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  house = await openSsoHouse({ log: pino({ level: 'trace' }, sink) });
  const { app, acmeAdmin } = house;
  const kinds = ['directory-oidc', 'workspace-oidc', 'oidc'];
  idp = await startOidcIdentityProvider(kinds.map((kind) => callbackUrl(app, kind)));
  const oidc = {
    issuer: idp.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    redirectUris: [CLIENT_REDIRECT],
  };
  const providers = [
    { provider: 'directory-oidc', name: 'Directory', defaultRole: 'service_desk_agent', ...oidc },
    {
      provider: 'workspace-oidc',
      name: 'Workspace',
      scopes: ['email', 'profile', 'groups'],
      provisionUsers: true,
      groupRoles: [
        { group: 'g-desk', role: 'service_desk_agent' },
        { group: 'g-lead', role: 'service_desk_manager' },
        { group: 'g-admin', role: 'tenant_admin' },
      ],
      ...oidc,
    },
    { provider: 'oidc', name: 'Generic', ...oidc },
  ];
  for (const provider of providers) {
    const { status, body } = await acmeAdmin('POST', '/v1/sso-providers', provider);
    expect(status).toBe(201);
    providerIds[provider.provider] = body.id;
  }
});

afterAll(async () => {
  await idp?.close();
  await house?.close();
});

function errorCodeOf(html: string): string {
  return JSON.parse(html).error.code;
}

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
    expect(body.user.id).toBe((await userByEmail('agent@acme.test')).id);
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

describe('the beginning', () => {
  const wrong: [string, Record<string, string | undefined>, string, string][] = [
    ['no challenge', { code_challenge: undefined }, 'code_challenge', 'isDefined'],
    ['a challenge that is none', { code_challenge: 'short' }, 'code_challenge', 'isRegex'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'code_challenge_method', 'isIn'],
    ['no method, which means plain', { code_challenge_method: undefined }, 'code_challenge_method', 'isIn'],
    ['no tenant', { tenant: undefined }, 'tenant', 'isDefined'],
    ['an unregistered redirect_uri', { redirect_uri: 'https://evil.test/' }, 'redirect_uri', 'isRegistered'],
    ['a longer redirect_uri', { redirect_uri: `${CLIENT_REDIRECT}/../x` }, 'redirect_uri', 'isRegistered'],
    [
      'a redirect_uri with a query',
      { redirect_uri: `${CLIENT_REDIRECT}?a=b` },
      'redirect_uri',
      'isRegistered',
    ],
  ];
  it.each(wrong)('is refused with %s, without a redirect', async (_name, overrides, field, constraint) => {
    const response = await fetch(beginAsClient(house.app, 'oidc', overrides).address, { redirect: 'manual' });
    expect(response.status).toBe(400);
    expect(response.headers.get('location')).toBeNull();
    expect(await response.json()).toMatchObject({
      success: false,
      error: { code: 'VALIDATION_ERROR', details: { field, constraint }, path: '/v1/auth/sso/oidc' },
    });
  });

  it('is refused when a parameter comes twice', async () => {
    const { address } = beginAsClient(house.app, 'oidc');
    const { status, body } = await house.anonymous('GET', `${address.slice(house.app.url.length)}&state=x`);
    expect({ status, details: body.error.details }).toEqual({
      status: 400,
      details: { field: 'state', constraint: 'isSingle' },
    });
  });

  it('answers the same for an unknown tenant, one without the provider, and one that switched it off', async () => {
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${providerIds['oidc']}`, { enabled: false });
    const answers = await Promise.all(
      ['nobody', 'globex', 'acme'].map(async (tenant) => {
        const { address } = beginAsClient(house.app, 'oidc', { tenant });
        const { status, body } = await house.anonymous('GET', address.slice(house.app.url.length));
        const { code, message, details } = body.error;
        return { status, code, message, details };
      }),
    );
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${providerIds['oidc']}`, { enabled: true });
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 404, details: { resource: 'sso_provider', id: 'oidc' } });
  });

  it('knows four providers and one method', async () => {
    expect((await house.anonymous('GET', '/v1/auth/sso/github')).status).toBe(404);
    const { status, headers } = await house.anonymous('POST', '/v1/auth/sso/oidc', {});
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const posted = await house.anonymous('POST', '/v1/auth/sso/oidc/callback', {});
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is 503 while the provider is away, and heals by itself', async () => {
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${providerIds['oidc']}`, { name: 'asked anew' });
    idp.up = false;
    const { address } = beginAsClient(house.app, 'oidc');
    const away = await fetch(address, { redirect: 'manual' });
    idp.up = true;
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await away.json()).toMatchObject({
      error: { code: 'SERVICE_UNAVAILABLE', details: { service: 'sso' } },
    });
    expect((await fetch(address, { redirect: 'manual' })).status).toBe(302);
  });

  it('asks for discovery once, however many begin at once', async () => {
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${providerIds['oidc']}`, { name: 'asked once' });
    idp.requests.length = 0;
    await Promise.all(
      Array.from({ length: 10 }, () =>
        fetch(beginAsClient(house.app, 'oidc').address, { redirect: 'manual' }),
      ),
    );
    expect(idp.requests).toEqual(['/.well-known/openid-configuration']);
  });
});

describe('the return from the provider', () => {
  /** The address the provider sends the browser to, not yet asked for. */
  async function returning(overrides: Record<string, string | undefined> = {}): Promise<URL> {
    idp.person = { sub: 'o-2', email: 'user@acme.test', email_verified: true };
    const { url } = await browse(
      beginAsClient(house.app, 'oidc', overrides),
      `${house.app.url}/v1/auth/sso/oidc/callback`,
    );
    return url;
  }

  async function visit(url: URL): Promise<{ status: number; code: string | undefined }> {
    const response = await fetch(url, { redirect: 'manual' });
    const location = response.headers.get('location');
    if (location !== null) return { status: response.status, code: undefined };
    return { status: response.status, code: errorCodeOf(await response.text()) };
  }

  const attacks: [string, (url: URL) => void, number, string][] = [
    ['no state', (url) => url.searchParams.delete('state'), 400, 'VALIDATION_ERROR'],
    ['another state', (url) => url.searchParams.set('state', 'x'.repeat(43)), 401, 'AUTHENTICATION_ERROR'],
    ['another code', (url) => url.searchParams.set('code', 'stolen'), 401, 'AUTHENTICATION_ERROR'],
    ['no code', (url) => url.searchParams.delete('code'), 401, 'AUTHENTICATION_ERROR'],
    [
      'another issuer',
      (url) => url.searchParams.set('iss', 'https://evil.test'),
      401,
      'AUTHENTICATION_ERROR',
    ],
    [
      'no issuer, where one is promised',
      (url) => url.searchParams.delete('iss'),
      401,
      'AUTHENTICATION_ERROR',
    ],
    ['another tenant', (url) => url.searchParams.set('tenant', 'globex'), 401, 'AUTHENTICATION_ERROR'],
    ['no tenant', (url) => url.searchParams.delete('tenant'), 401, 'AUTHENTICATION_ERROR'],
    [
      "another kind's callback",
      (url) => {
        url.pathname = '/v1/auth/sso/directory-oidc/callback';
      },
      401,
      'AUTHENTICATION_ERROR',
    ],
    [
      'an error of the provider',
      (url) => {
        url.searchParams.delete('code');
        url.searchParams.set('error', 'access_denied');
      },
      401,
      'AUTHENTICATION_ERROR',
    ],
  ];
  it.each(attacks)('is refused with %s', async (_name, spoil, status, code) => {
    const url = await returning();
    spoil(url);
    expect(await visit(url)).toEqual({ status, code });
  });

  it('is good once, also when it comes ten times at once', async () => {
    const url = await returning();
    const answers = await Promise.all(Array.from({ length: 10 }, () => visit(url)));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'AUTHENTICATION_ERROR')).toHaveLength(9);
  });

  it('is refused when the code belongs to another login: nonce and challenge differ', async () => {
    const [victim, attacker] = [await returning(), await returning()];
    const injected = new URL(attacker);
    injected.searchParams.set('code', `${victim.searchParams.get('code')}`);
    expect(await visit(injected)).toEqual({ status: 401, code: 'AUTHENTICATION_ERROR' });
  });

  it('gives no code to a redirect_uri that was taken back meanwhile', async () => {
    const url = await returning();
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${providerIds['oidc']}`, { redirectUris: [] });
    expect(await visit(url)).toEqual({ status: 401, code: 'AUTHENTICATION_ERROR' });
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${providerIds['oidc']}`, {
      redirectUris: [CLIENT_REDIRECT],
    });
  });

  it('writes the reason of a refusal into the audit log and not into the answer', async () => {
    const url = await returning();
    url.searchParams.set('iss', 'https://evil.test');
    const { error } = (await (await fetch(url)).json()) as { error: { message: string } };
    expect(error.message).toBe('The answer of the login provider is not valid');
    const [entry] = await house.app.database.orm.em.execute(
      `select after from audit_entry where action = 'auth.sso_refused' order by position desc limit 1`,
    );
    expect(entry).toEqual({ after: { reason: expect.stringMatching(/\S/) } });
  });
});

describe('the exchange of the code', () => {
  async function coded() {
    idp.person = { sub: 'o-2', email: 'user@acme.test', email_verified: true };
    const client = beginAsClient(house.app, 'oidc');
    const { url } = await browse(client, CLIENT_REDIRECT, new Browser());
    expect(url.searchParams.get('state')).toBe(client.state);
    return { code: `${url.searchParams.get('code')}`, code_verifier: client.verifier };
  }
  const exchange = (body: object) => house.anonymous('POST', '/v1/auth/sso/token', body);

  it('wants the verifier of the client that began, and a wrong one spends the code', async () => {
    const { code, code_verifier } = await coded();
    expect(await exchange({ code, code_verifier: 'x'.repeat(43) })).toMatchObject(REFUSED);
    expect(await exchange({ code, code_verifier })).toMatchObject(REFUSED);
    expect(await exchange({ code: 'unknown', code_verifier })).toMatchObject(REFUSED);
    expect(await exchange({ code, code_verifier: 'short' })).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'code_verifier' } } },
    });
    expect(await exchange({ code })).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'code_verifier', constraint: 'isDefined' } } },
    });
  });

  it('succeeds once of ten times at once', async () => {
    const body = await coded();
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
  });

  it('ends the session of a code that comes again', async () => {
    const body = await coded();
    const { body: first } = await exchange(body);
    const call = caller(house.app.url, { authorization: `Bearer ${first.accessToken}` });
    expect((await call('GET', '/v1/users/me')).status).toBe(200);
    expect(await exchange(body)).toMatchObject(REFUSED);
    expect(await call('GET', '/v1/users/me')).toMatchObject({ body: { error: { code: 'TOKEN_INVALID' } } });
  });

  it('works over GraphQL as over REST', async () => {
    const input = await coded();
    const query = `mutation ($input: SsoCodeInput!) {
      exchangeSsoCode(input: $input) { tokenType expiresIn user { email ssoProvider } }
    }`;
    const ask = () => house.anonymous('POST', '/graphql', { query, variables: { input } });
    expect((await ask()).body.data.exchangeSsoCode).toEqual({
      tokenType: 'Bearer',
      expiresIn: 900,
      user: { email: 'user@acme.test', ssoProvider: 'oidc' },
    });
    expect((await ask()).body.errors[0].extensions.code).toBe('AUTHENTICATION_ERROR');
  });
});

/** RFC 9700 section 4.4: one provider of ours is an attacker's, who wants the codes of another. */
describe('a provider that poses as another', () => {
  it('gets no code that the other one gave', async () => {
    const asked: string[] = [];
    const evil = createServer((request, response) => {
      const url = new URL(`${request.url}`, origin);
      asked.push(url.pathname);
      if (url.pathname !== '/authorize') {
        const endpoints = {
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
        };
        const document = { issuer: origin, jwks_uri: `${origin}/keys`, ...endpoints };
        return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      }
      // As if the honest one had been chosen, and its answer were to come back as one to this login.
      url.searchParams.set('client_id', CLIENT_ID);
      url.searchParams.set('redirect_uri', callbackUrl(house.app, 'oidc'));
      return response.writeHead(302, { location: `${idp.issuer}/auth?${url.searchParams}` }).end();
    });
    const origin = await listen(evil);
    const provider = {
      provider: 'oidc',
      name: 'Evil',
      issuer: origin,
      clientId: 'x',
      redirectUris: [CLIENT_REDIRECT],
    };
    expect((await house.globexAdmin('POST', '/v1/sso-providers', provider)).status).toBe(201);

    idp.person = { sub: 'o-2', email: 'user@acme.test', email_verified: true };
    const { response, html } = await browse(
      beginAsClient(house.app, 'oidc', { tenant: 'globex' }),
      CLIENT_REDIRECT,
    );
    expect([response.status, errorCodeOf(html)]).toEqual([401, 'AUTHENTICATION_ERROR']);
    expect(new URL(response.url).searchParams.has('code')).toBe(true);
    expect(asked).toEqual(['/.well-known/openid-configuration', '/authorize']);
    evil.closeAllConnections();
    await new Promise((resolve) => evil.close(resolve));
  });
});

describe('the log', () => {
  it('holds no secret of a login', async () => {
    idp.person = { sub: 'o-2', email: 'user@acme.test', email_verified: true };
    const client = beginAsClient(house.app, 'oidc');
    const callback = (await browse(client, `${house.app.url}/v1/auth/sso/oidc/callback`)).url;
    const back = new URL(`${(await fetch(callback, { redirect: 'manual' })).headers.get('location')}`);
    const code = `${back.searchParams.get('code')}`;
    const { body } = await house.anonymous('POST', '/v1/auth/sso/token', {
      code,
      code_verifier: client.verifier,
    });
    const log = logged.join('');
    expect(log).toContain('/v1/auth/sso/:provider/callback');
    const { accessToken, refreshToken } = body;
    const ofProvider = ['code', 'state'].map((name) => `${callback.searchParams.get(name)}`);
    for (const secret of [CLIENT_SECRET, client.verifier, code, accessToken, refreshToken, ...ofProvider])
      expect(log.includes(secret)).toBe(false);
  });
});
