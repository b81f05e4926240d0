import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorCodeOf, type OidcHouse, openOidcHouse } from './oidc-house.js';
import type { OidcIdentityProvider } from './oidc-identity-provider.js';
import { beginAsClient, browse, CLIENT_REDIRECT, type SsoHouse } from './sso-house.js';

let opened: OidcHouse;
let house: SsoHouse;
let idp: OidcIdentityProvider;
let providerIds: OidcHouse['providerIds'];
beforeAll(async () => {
  opened = await openOidcHouse();
  ({ house, idp, providerIds } = opened);
});
afterAll(() => opened?.close());

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
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const posted = await house.anonymous('POST', '/v1/auth/sso/oidc/callback', {});
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
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
