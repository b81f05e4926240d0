import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { DEMO_PASSWORD, type DemoTenant } from '../../src/domain/identity/index.js';
import { User } from '../../src/entities/identity/user.js';
import type { TestDatabase } from '../support/database.js';
import { authorize, begin, discover, REDIRECT_URI } from './authorization.js';
import { Browser } from './browser.js';
import { type IssuerHouse, openIssuerHouse, type ServedIssuer } from './served-issuer.js';

let house: IssuerHouse;
let database: TestDatabase;
let acme: DemoTenant;
let served: ServedIssuer;

beforeAll(async () => {
  house = await openIssuerHouse();
  ({ database, acme, served } = house);
});

afterAll(() => house.close());

describe('the embedded issuer', () => {
  it('describes itself and publishes keys without private halves', async () => {
    const document = await (await fetch(`${served.issuer}/.well-known/openid-configuration`)).json();
    expect(document).toMatchObject({
      issuer: served.issuer,
      jwks_uri: `${served.issuer}/jwks`,
      authorization_endpoint: `${served.issuer}/auth`,
      token_endpoint: `${served.issuer}/token`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
    });
    const { keys } = (await (await fetch(`${served.issuer}/jwks`)).json()) as { keys: object[] };
    expect(keys).toHaveLength(1);
    expect(keys[0]).toMatchObject({ kty: 'RSA', alg: 'RS256', use: 'sig' });
    expect(keys[0]).not.toHaveProperty('d');
  });

  it.each([
    ['basic', client.ClientSecretBasic],
    ['post', client.ClientSecretPost],
  ])(
    'gives a confidential client a token with its roles and workspace (client_secret_%s)',
    async (_name, method) => {
      const configuration = await discover(
        served.issuer,
        'demo-engineer',
        DEMO_PASSWORD,
        method(DEMO_PASSWORD),
      );
      const tokens = await client.clientCredentialsGrant(configuration);
      expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3_600 });
      const { payload, protectedHeader } = await jwtVerify(
        tokens.access_token,
        createRemoteJWKSet(new URL(`${served.issuer}/jwks`)),
        { issuer: served.issuer, audience: 'opsgraph', typ: 'at+jwt' },
      );
      expect(protectedHeader.alg).toBe('RS256');
      expect(payload).toMatchObject({
        sub: 'demo-engineer',
        realm_access: { roles: ['ENGINEER'] },
        workspace_id: acme.workspaceId,
      });
      expect(payload).not.toHaveProperty('email');
    },
  );

  it('refuses a wrong secret, and an unknown client in the same way', async () => {
    for (const [id, secret] of [
      ['demo-engineer', 'wrong'],
      ['nobody', DEMO_PASSWORD],
    ]) {
      const response = await fetch(`${served.issuer}/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: `${id}`,
          client_secret: `${secret}`,
        }),
      });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({
        error: 'invalid_client',
        error_description: 'client authentication failed',
      });
    }
  });

  it('lets a user log in and consent, and gives the public client tokens of that user', async () => {
    const { configuration, exchange } = await authorize(served.issuer, 'agent@acme.test');
    const tokens = await exchange();
    expect(tokens.claims()).toMatchObject({
      iss: served.issuer,
      sub: acme.userIds.agent,
      aud: 'opsgraph-ui',
    });
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      iss: served.issuer,
      aud: 'opsgraph',
      sub: acme.userIds.agent,
      email: 'agent@acme.test',
      realm_access: { roles: ['ENGINEER'] },
      workspace_id: acme.workspaceId,
    });
    expect(tokens.refresh_token).toBeUndefined();
    expect(tokens.expires_in).toBe(900);
    expect(configuration.serverMetadata().issuer).toBe(served.issuer);
  });

  it('gives a refresh token for offline_access, good for one use', async () => {
    const { configuration, exchange } = await authorize(served.issuer, 'agent@acme.test', {
      scope: 'openid offline_access',
      prompt: 'consent',
    });
    const { refresh_token: first = '' } = await exchange();
    const next = await client.refreshTokenGrant(configuration, first);
    expect(decodeJwt(next.access_token)).toMatchObject({ sub: acme.userIds.agent, aud: 'opsgraph' });
    await expect(client.refreshTokenGrant(configuration, first)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await expect(client.refreshTokenGrant(configuration, `${next.refresh_token}`)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('gives nothing more to a user who was deactivated', async () => {
    const { exchange } = await authorize(served.issuer, 'user@acme.test');
    const em = database.orm.em.fork();
    await em.nativeUpdate(User, { email: 'user@acme.test' }, { active: false }, { filters: false });
    await expect(exchange()).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('takes a code once, also when it comes ten times at the same moment', async () => {
    const { exchange } = await authorize(served.issuer, 'agent@acme.test');
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, exchange));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('wants PKCE, and the right verifier', async () => {
    const { configuration, state, address } = await begin(served.issuer);
    const bare = new URL(address);
    bare.searchParams.delete('code_challenge');
    bare.searchParams.delete('code_challenge_method');
    const { url } = await new Browser().visit(bare.href, REDIRECT_URI);
    expect(url.searchParams.get('error')).toBe('invalid_request');

    const { url: answered } = await authorize(served.issuer, 'agent@acme.test', { state });
    const wrong = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: state };
    await expect(client.authorizationCodeGrant(configuration, answered, wrong)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it.each(['https://evil.test/callback', 'http://127.0.0.1:49152/elsewhere', 'http://evil.test/callback'])(
    'never sends anybody to %s',
    async (redirectUri) => {
      const { address } = await begin(served.issuer, { redirect_uri: redirectUri });
      const { response, html } = await new Browser().visit(address, redirectUri);
      expect(response.status).toBe(400);
      expect(html).toContain('invalid_redirect_uri');
    },
  );

  it('tells the client when the user refuses', async () => {
    const browser = new Browser();
    const { address } = await begin(served.issuer);
    const loginPage = await browser.visit(address, REDIRECT_URI);
    const typed = { email: 'agent@acme.test', password: DEMO_PASSWORD };
    const consentPage = await browser.submit(loginPage, '/login', REDIRECT_URI, typed);
    const { url } = await browser.submit(consentPage, '/abort', REDIRECT_URI);
    expect(url.searchParams.get('error')).toBe('access_denied');
  });
});

describe('the login page', () => {
  it('says so when the password is wrong, keeps the address, and lets nobody on', async () => {
    const browser = new Browser();
    const { address } = await begin(served.issuer);
    const loginPage = await browser.visit(address, REDIRECT_URI);
    const typed = { email: '"><script>alert(1)</script>@acme.test', password: 'wrong' };
    const { response, html } = await browser.submit(loginPage, '/login', REDIRECT_URI, typed);
    expect(response.status).toBe(401);
    expect(html).toContain('The e-mail address or the password is wrong');
    expect(html).not.toContain('<script>');
    expect(html).toContain('&quot;&gt;&lt;script&gt;');
  });

  it('can be neither framed, scripted nor cached, and its cookies belong to it alone', async () => {
    const { address } = await begin(served.issuer);
    const { response } = await new Browser().visit(address, REDIRECT_URI);
    const policy = `${response.headers.get('content-security-policy')}`;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self' http://127.0.0.1:49152;");
    expect(response.headers.get('cache-control')).toBe('no-store');
    const cookies = (await fetch(address, { redirect: 'manual' })).headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatch(/httponly/i);
    for (const cookie of cookies) expect(cookie).toMatch(/samesite=lax/i);
    expect(cookies.some((cookie) => cookie.includes('.sig='))).toBe(true);
  });

  it('refuses a form from another browser, with another token, or of another interaction', async () => {
    const [browser, stranger] = [new Browser(), new Browser()];
    const { address } = await begin(served.issuer);
    const loginPage = await browser.visit(address, REDIRECT_URI);
    const typed = { email: 'agent@acme.test', password: DEMO_PASSWORD };
    const strangers = await stranger.submit(loginPage, '/login', REDIRECT_URI, typed);
    expect(strangers.response.status).toBe(400);
    expect(strangers.html).toContain('invalid_request');
    const forged = await browser.submit(loginPage, '/login', REDIRECT_URI, { ...typed, csrf: 'forged' });
    expect(forged.response.status).toBe(400);
    expect(forged.html).toContain('the form has expired');
    const early = await fetch(`${loginPage.url.href}/consent`, { method: 'POST' });
    expect(early.status).toBe(400);
  });
});
