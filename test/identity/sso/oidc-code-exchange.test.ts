import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser } from '../../oidc/browser.js';
import { listen } from '../../oidc/served-issuer.js';
import { caller } from '../../support/rest.js';
import { errorCodeOf, type OidcHouse, openOidcHouse, REFUSED } from './oidc-house.js';
import { CLIENT_ID, CLIENT_SECRET, type OidcIdentityProvider } from './oidc-identity-provider.js';
import { beginAsClient, browse, CLIENT_REDIRECT, callbackUrl, type SsoHouse } from './sso-house.js';

let opened: OidcHouse;
let house: SsoHouse;
let idp: OidcIdentityProvider;
beforeAll(async () => {
  opened = await openOidcHouse();
  ({ house, idp } = opened);
});
afterAll(() => opened?.close());

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

  /** Simultaneous exchanges of one code may count as reuse too. */
  async function reusesWritten(): Promise<number> {
    const [written] = await house.app.database.orm.em.execute<{ count: number }[]>(
      `select count(*)::int as count from audit_entry where action = 'auth.sso_code_reused'`,
    );
    return written?.count ?? 0;
  }

  it('ends the session of a code that comes again', async () => {
    const body = await coded();
    const before = await reusesWritten();
    const { body: first } = await exchange(body);
    const call = caller(house.app.url, { authorization: `Bearer ${first.accessToken}` });
    expect((await call('GET', '/v1/users/me')).status).toBe(200);
    expect(await exchange(body)).toMatchObject(REFUSED);
    expect(await call('GET', '/v1/users/me')).toMatchObject({ body: { error: { code: 'TOKEN_INVALID' } } });
    expect(await reusesWritten()).toBe(before + 1);
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
    const log = opened.logged.join('');
    expect(log).toContain('/v1/auth/sso/:provider/callback');
    const { accessToken, refreshToken } = body;
    const ofProvider = ['code', 'state'].map((name) => `${callback.searchParams.get(name)}`);
    for (const secret of [CLIENT_SECRET, client.verifier, code, accessToken, refreshToken, ...ofProvider])
      expect(log.includes(secret)).toBe(false);
  });
});
