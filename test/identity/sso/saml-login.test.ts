import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CertifiedKey } from './certificate.js';
import {
  atProvider,
  exchanged,
  expectRefused,
  good,
  MINUTE_MS,
  openSamlHouse,
  post,
  type SamlHouse,
} from './saml-house.js';
import {
  assertionXml,
  readRequest,
  responseXml,
  type Response as SamlResponse,
  signed,
} from './saml-identity-provider.js';
import { beginAsClient, callbackUrl } from './sso-house.js';

const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
let house: SamlHouse;
let key: CertifiedKey;
beforeAll(async () => {
  house = await openSamlHouse();
  key = house.key;
});
afterAll(() => house?.close());

describe('a login by saml', () => {
  it('sends a request of ours by redirect', async () => {
    const client = beginAsClient(house.app, 'saml');
    const url = new URL(`${(await fetch(client.address, { redirect: 'manual' })).headers.get('location')}`);
    expect(`${url.origin}${url.pathname}`).toBe('https://idp.example/sso');
    expect(url.searchParams.get('realm')).toBe('acme');
    const { xml, relayState } = readRequest(url);
    expect(relayState).toMatch(/^[\w-]{43}$/);
    const acs = callbackUrl(house.app, 'saml');
    expect(xml).toContain(`AssertionConsumerServiceURL="${acs}"`);
    expect(xml).toContain(`${house.app.url}/v1/auth/sso/saml/metadata?tenant=acme</saml:Issuer>`);
  });

  it('makes a user of a signed assertion and finds them again, also when the response is signed as well', async () => {
    const first = await atProvider(house);
    const { status, body } = await exchanged(
      house,
      first,
      await post(house, first.relayState, good(house, first.response)),
    );
    expect(status).toBe(200);
    expect(body.user).toMatchObject({
      email: 'saml.user@acme.test',
      role: 'service_desk_agent',
      ssoProvider: 'saml',
    });
    const again = await atProvider(house);
    const both = signed(good(house, again.response), 'Response', { key });
    const second = await exchanged(house, again, await post(house, again.relayState, both));
    expect(second.body.user).toEqual(body.user);
  });

  it('reads the address from the usual attributes when the name is no address', async () => {
    const attempt = await atProvider(house);
    const oid = 'urn:oid:0.9.2342.19200300.100.1.3';
    Object.assign(attempt.response, {
      nameId: 'E-4711',
      nameIdFormat: PERSISTENT,
      attributes: { [oid]: 'Agent@Acme.test' },
    });
    const { body } = await exchanged(
      house,
      attempt,
      await post(house, attempt.relayState, good(house, attempt.response)),
    );
    expect(body.user).toMatchObject({ email: 'agent@acme.test' });
  });

  it('answers with the tokens itself when no redirect_uri was named', async () => {
    const { relayState, response } = await atProvider(house, { redirect_uri: undefined });
    const answer = await post(house, relayState, good(house, response));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ tokenType: 'Bearer', user: { ssoProvider: 'saml' } });
  });

  it('keeps to the domains that were written down', async () => {
    const attempt = await atProvider(house);
    attempt.response.nameId = 'someone@globex.test';
    const answer = await post(house, attempt.relayState, good(house, attempt.response));
    expect(answer.status).toBe(403);
  });

  it('tells its metadata', async () => {
    const answer = await fetch(`${house.app.url}/v1/auth/sso/saml/metadata?tenant=acme`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/samlmetadata\+xml/);
    const xml = await answer.text();
    expect(xml).toContain(`entityID="${house.app.url}/v1/auth/sso/saml/metadata?tenant=acme"`);
    expect(xml).toContain(`Location="${callbackUrl(house.app, 'saml')}"`);
    expect(xml).toContain('WantAssertionsSigned="true"');
    expect((await house.anonymous('GET', '/v1/auth/sso/saml/metadata')).body.error.details.field).toBe(
      'tenant',
    );
    expect((await house.anonymous('GET', '/v1/auth/sso/saml/metadata?tenant=nobody')).status).toBe(404);
    expect((await house.anonymous('GET', '/v1/auth/sso/oidc/metadata?tenant=acme')).status).toBe(404);
  });
});

describe('a response is refused', () => {
  const spoiled: [string, RegExp, (response: SamlResponse) => void][] = [
    [
      'for another audience',
      /audience mismatch/,
      (r) => void Object.assign(r, { audience: 'https://other.example' }),
    ],
    [
      "for another organization's audience",
      /audience mismatch/,
      (r) => void Object.assign(r, { audience: r.audience.replace('acme', 'globex') }),
    ],
    [
      'for another recipient',
      /no subject confirmation for this address/,
      (r) => void Object.assign(r, { recipient: 'https://evil.example/acs' }),
    ],
    [
      "for another organization's recipient",
      /no subject confirmation for this address/,
      (r) => void Object.assign(r, { recipient: r.recipient.replace('acme', 'globex') }),
    ],
    ['of another issuer', /another issuer/, (r) => void Object.assign(r, { issuer: 'https://evil.example' })],
    [
      'to another request',
      /InResponseTo is not valid/,
      (r) => void Object.assign(r, { requestId: '_0123456789', confirmedRequestId: '_0123456789' }),
    ],
    [
      'whose subject is confirmed for another request',
      /InResponseTo does not match/,
      (r) => void Object.assign(r, { confirmedRequestId: '_0123456789' }),
    ],
    [
      'that has expired',
      /No valid subject confirmation/,
      (r) => {
        r.issuedAt = new Date(Date.now() - 20 * MINUTE_MS);
        r.notOnOrAfter = new Date(Date.now() - 10 * MINUTE_MS);
      },
    ],
    [
      'that was issued long ago, whatever it says of its end',
      /No valid subject confirmation/,
      (r) => void Object.assign(r, { issuedAt: new Date(Date.now() - 60 * MINUTE_MS) }),
    ],
    [
      'from the future',
      /not yet valid/,
      (r) => void Object.assign(r, { issuedAt: new Date(Date.now() + 10 * MINUTE_MS) }),
    ],
    [
      'with a name that is somebody else tomorrow',
      /transient/,
      (r) => void Object.assign(r, { nameIdFormat: TRANSIENT }),
    ],
  ];
  it.each(spoiled)('%s', async (_name, reason, spoil) => {
    const attempt = await atProvider(house);
    spoil(attempt.response);
    await expectRefused(house, attempt, good(house, attempt.response), reason);
  });

  const forged: [string, RegExp, (response: SamlResponse) => string][] = [
    ['without a signature', /Invalid signature/, (r) => responseXml(r, assertionXml(r))],
    [
      'signed by somebody else',
      /Invalid signature/,
      (r) => signed(responseXml(r, assertionXml(r)), 'Assertion', { key: house.stranger }),
    ],
    [
      'whose envelope alone is signed',
      /Invalid signature/,
      (r) => signed(responseXml(r, assertionXml(r)), 'Response', { key }),
    ],
    [
      'that was changed afterwards',
      /Invalid signature/,
      (r) => good(house, r).replace('saml.user@', 'admin@'),
    ],
    [
      'with two assertions',
      /multiple assertions/,
      (r) => good(house, r).replace('</samlp:Response>', `${assertionXml(r)}</samlp:Response>`),
    ],
    ['without an assertion', /Missing SAML assertion/, (r) => responseXml(r)],
    [
      'with a document type',
      /document type/,
      (r) => `<!DOCTYPE x [<!ENTITY e "admin@acme.test">]>${good(house, r)}`,
    ],
    [
      'signed with SHA-1',
      /rsa-sha1/,
      (r) =>
        signed(responseXml(r, assertionXml(r)), 'Assertion', {
          key,
          signatureAlgorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
          digestAlgorithm: 'http://www.w3.org/2000/09/xmldsig#sha1',
        }),
    ],
    [
      'signed together with its comments',
      /WithComments/,
      (r) =>
        signed(responseXml(r, assertionXml(r)), 'Assertion', {
          key,
          canonicalization: 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
        }),
    ],
    ['that is no XML', /XML/, () => 'hello'],
    ['that is empty', /doc source/, () => ''],
  ];
  it.each(forged)('%s', async (_name, reason, forge) => {
    const attempt = await atProvider(house);
    await expectRefused(house, attempt, forge(attempt.response), reason);
  });

  it('when it comes again, also within another login', async () => {
    const attempt = await atProvider(house);
    const xml = good(house, attempt.response);
    expect((await post(house, attempt.relayState, xml)).status).toBe(302);
    expect((await post(house, attempt.relayState, xml)).status).toBe(401);
    await expectRefused(house, await atProvider(house), xml, /InResponseTo is not valid/);
  });

  it('when it comes unasked, or with the state of nobody', async () => {
    const { response } = await atProvider(house);
    const xml = good(house, response);
    const unasked = await post(house, '', xml);
    expect([unasked.status, await unasked.json()]).toMatchObject([
      400,
      { error: { code: 'VALIDATION_ERROR', details: { field: 'state', constraint: 'isDefined' } } },
    ]);
    expect((await post(house, 'x'.repeat(43), xml)).status).toBe(401);
  });

  it("at another organization's address, which leaves the login as it was", async () => {
    const attempt = await atProvider(house);
    const xml = good(house, attempt.response);
    const address = callbackUrl(house.app, 'saml', 'globex');
    expect((await post(house, attempt.relayState, xml, address)).status).toBe(401);
    expect((await post(house, attempt.relayState, xml)).status).toBe(302);
  });

  it('when the login took longer than ten minutes', async () => {
    const attempt = await atProvider(house);
    await house.app.database.orm.em.execute(
      `update sso_login set expires_at = now() where client_state = '${attempt.client.state}'`,
    );
    expect((await post(house, attempt.relayState, good(house, attempt.response))).status).toBe(401);
  });

  it('when the provider was switched off meanwhile', async () => {
    const attempt = await atProvider(house);
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${house.providerId}`, { enabled: false });
    expect((await post(house, attempt.relayState, good(house, attempt.response))).status).toBe(401);
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${house.providerId}`, { enabled: true });
  });

  it('in another form than a form, by another method, or when it is huge', async () => {
    const address = callbackUrl(house.app, 'saml');
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await fetch(address, json)).status).toBe(415);
    const gotten = await fetch(address);
    expect([gotten.status, gotten.headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
    expect((await post(house, 'x', 'x'.repeat(600_000))).status).toBe(413);
  });
});

/** Somlo et al., "On Breaking SAML: Be Whoever You Want to Be" (USENIX Security 2012), by their numbers. */
