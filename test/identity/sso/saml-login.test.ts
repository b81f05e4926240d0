import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CertifiedKey, selfSigned } from './certificate.js';
import {
  assertionXml,
  IDP_ENTITY,
  readRequest,
  responseXml,
  type Response as SamlResponse,
  signatureIn,
  signed,
} from './saml-identity-provider.js';
import {
  beginAsClient,
  CLIENT_REDIRECT,
  type Client,
  callbackUrl,
  openSsoHouse,
  type SsoHouse,
} from './sso-house.js';

const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
const MINUTE_MS = 60_000;

let house: SsoHouse;
let key: CertifiedKey;
let stranger: CertifiedKey;
let providerId: string;

beforeAll(async () => {
  house = await openSsoHouse();
  key = selfSigned('idp.example');
  stranger = selfSigned('idp.example');
  const provider = {
    provider: 'saml',
    name: 'Corporate',
    issuer: IDP_ENTITY,
    entryPoint: 'https://idp.example/sso?realm=acme',
    redirectUris: [CLIENT_REDIRECT],
    emailDomains: ['acme.test'],
    provisionUsers: true,
    defaultRole: 'service_desk_agent',
  };
  const { status, body } = await house.acmeAdmin('POST', '/v1/sso-providers', {
    ...provider,
    certificates: [selfSigned('old.example').certificate, key.certificate],
  });
  expect(status).toBe(201);
  providerId = body.id;
  const elsewhere = { ...provider, certificates: [key.certificate], emailDomains: [] };
  expect((await house.globexAdmin('POST', '/v1/sso-providers', elsewhere)).status).toBe(201);
});

afterAll(() => house?.close());

interface Attempt {
  client: Client;
  relayState: string;
  response: SamlResponse;
}

/** A login that is at the provider, and what a good provider would answer. */
async function atProvider(overrides: Record<string, string | undefined> = {}): Promise<Attempt> {
  const client = beginAsClient(house.app, 'saml', overrides);
  const sent = await fetch(client.address, { redirect: 'manual' });
  const { id, relayState } = readRequest(new URL(`${sent.headers.get('location')}`));
  const acs = callbackUrl(house.app, 'saml');
  const response = {
    requestId: id,
    acs,
    audience: `${house.app.url}/v1/auth/sso/saml/metadata?tenant=acme`,
    nameId: 'saml.user@acme.test',
    nameIdFormat: EMAIL_FORMAT,
    attributes: { displayName: 'Sam L. User' },
    issuer: IDP_ENTITY,
    recipient: acs,
    confirmedRequestId: id,
    issuedAt: new Date(Date.now() - 5_000),
    notOnOrAfter: new Date(Date.now() + 5 * MINUTE_MS),
  };
  return { client, relayState, response };
}

function post(relayState: string, xml: string, address = callbackUrl(house.app, 'saml')) {
  const body = new URLSearchParams({
    SAMLResponse: Buffer.from(xml).toString('base64'),
    RelayState: relayState,
  });
  return fetch(address, { method: 'POST', body, redirect: 'manual' });
}

const good = (response: SamlResponse) =>
  signed(responseXml(response, assertionXml(response)), 'Assertion', { key });

async function exchanged({ client }: Attempt, answer: globalThis.Response) {
  expect(answer.status).toBe(302);
  const back = new URL(`${answer.headers.get('location')}`);
  expect(back.href.startsWith(CLIENT_REDIRECT)).toBe(true);
  expect(back.searchParams.get('state')).toBe(client.state);
  const code = back.searchParams.get('code');
  return house.anonymous('POST', '/v1/auth/sso/token', { code, code_verifier: client.verifier });
}

async function expectRefused(attempt: Attempt, xml: string, reason: RegExp): Promise<void> {
  const answer = await post(attempt.relayState, xml);
  const body = (await answer.json()) as { error: { code: string; message: string } };
  expect({ status: answer.status, code: body.error.code, message: body.error.message }).toEqual({
    status: 401,
    code: 'AUTHENTICATION_ERROR',
    message: 'The answer of the login provider is not valid',
  });
  const [entry] = await house.app.database.orm.em.execute<{ reason: string }[]>(
    `select after->>'reason' as reason from audit_entry where action = 'auth.sso_refused' order by position desc limit 1`,
  );
  expect(entry?.reason).toMatch(reason);
}

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
    const first = await atProvider();
    const { status, body } = await exchanged(first, await post(first.relayState, good(first.response)));
    expect(status).toBe(200);
    expect(body.user).toMatchObject({
      email: 'saml.user@acme.test',
      role: 'service_desk_agent',
      ssoProvider: 'saml',
    });
    const again = await atProvider();
    const both = signed(good(again.response), 'Response', { key });
    const second = await exchanged(again, await post(again.relayState, both));
    expect(second.body.user).toEqual(body.user);
  });

  it('reads the address from the usual attributes when the name is no address', async () => {
    const attempt = await atProvider();
    const oid = 'urn:oid:0.9.2342.19200300.100.1.3';
    Object.assign(attempt.response, {
      nameId: 'E-4711',
      nameIdFormat: PERSISTENT,
      attributes: { [oid]: 'Agent@Acme.test' },
    });
    const { body } = await exchanged(attempt, await post(attempt.relayState, good(attempt.response)));
    expect(body.user).toMatchObject({ email: 'agent@acme.test' });
  });

  it('answers with the tokens itself when no redirect_uri was named', async () => {
    const { relayState, response } = await atProvider({ redirect_uri: undefined });
    const answer = await post(relayState, good(response));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ tokenType: 'Bearer', user: { ssoProvider: 'saml' } });
  });

  it('keeps to the domains that were written down', async () => {
    const attempt = await atProvider();
    attempt.response.nameId = 'someone@globex.test';
    const answer = await post(attempt.relayState, good(attempt.response));
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
    const attempt = await atProvider();
    spoil(attempt.response);
    await expectRefused(attempt, good(attempt.response), reason);
  });

  const forged: [string, RegExp, (response: SamlResponse) => string][] = [
    ['without a signature', /Invalid signature/, (r) => responseXml(r, assertionXml(r))],
    [
      'signed by somebody else',
      /Invalid signature/,
      (r) => signed(responseXml(r, assertionXml(r)), 'Assertion', { key: stranger }),
    ],
    [
      'whose envelope alone is signed',
      /Invalid signature/,
      (r) => signed(responseXml(r, assertionXml(r)), 'Response', { key }),
    ],
    ['that was changed afterwards', /Invalid signature/, (r) => good(r).replace('saml.user@', 'admin@')],
    [
      'with two assertions',
      /multiple assertions/,
      (r) => good(r).replace('</samlp:Response>', `${assertionXml(r)}</samlp:Response>`),
    ],
    ['without an assertion', /Missing SAML assertion/, (r) => responseXml(r)],
    [
      'with a document type',
      /document type/,
      (r) => `<!DOCTYPE x [<!ENTITY e "admin@acme.test">]>${good(r)}`,
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
    const attempt = await atProvider();
    await expectRefused(attempt, forge(attempt.response), reason);
  });

  it('when it comes again, also within another login', async () => {
    const attempt = await atProvider();
    const xml = good(attempt.response);
    expect((await post(attempt.relayState, xml)).status).toBe(302);
    expect((await post(attempt.relayState, xml)).status).toBe(401);
    await expectRefused(await atProvider(), xml, /InResponseTo is not valid/);
  });

  it('when it comes unasked, or with the state of nobody', async () => {
    const { response } = await atProvider();
    const xml = good(response);
    const unasked = await post('', xml);
    expect([unasked.status, await unasked.json()]).toMatchObject([
      400,
      { error: { code: 'VALIDATION_ERROR', details: { field: 'state', constraint: 'isDefined' } } },
    ]);
    expect((await post('x'.repeat(43), xml)).status).toBe(401);
  });

  it("at another organization's address, which leaves the login as it was", async () => {
    const attempt = await atProvider();
    const xml = good(attempt.response);
    const address = callbackUrl(house.app, 'saml', 'globex');
    expect((await post(attempt.relayState, xml, address)).status).toBe(401);
    expect((await post(attempt.relayState, xml)).status).toBe(302);
  });

  it('when the login took longer than ten minutes', async () => {
    const attempt = await atProvider();
    await house.app.database.orm.em.execute(
      `update sso_login set expires_at = now() where client_state = '${attempt.client.state}'`,
    );
    expect((await post(attempt.relayState, good(attempt.response))).status).toBe(401);
  });

  it('when the provider was switched off meanwhile', async () => {
    const attempt = await atProvider();
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${providerId}`, { enabled: false });
    expect((await post(attempt.relayState, good(attempt.response))).status).toBe(401);
    await house.acmeAdmin('PATCH', `/v1/sso-providers/${providerId}`, { enabled: true });
  });

  it('in another form than a form, by another method, or when it is huge', async () => {
    const address = callbackUrl(house.app, 'saml');
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await fetch(address, json)).status).toBe(415);
    const gotten = await fetch(address);
    expect([gotten.status, gotten.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await post('x', 'x'.repeat(600_000))).status).toBe(413);
  });
});

/** Somlo et al., "On Breaking SAML: Be Whoever You Want to Be" (USENIX Security 2012), by their numbers. */
describe('a signature wrapped around another assertion', () => {
  const evil = (response: SamlResponse, id?: string) =>
    assertionXml({ ...response, nameId: 'admin@acme.test' }, id);

  /** A signed response taken apart: the assertion with its signature and without it, and the signature. */
  function parts(xml: string) {
    const assertion = /<saml:Assertion [\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
    const signature = signatureIn(xml);
    const id = /ID="([^"]+)"/.exec(assertion)?.[1] ?? '';
    return { assertion, signature, bare: assertion.replace(signature, ''), id };
  }
  const within = (outer: string, inner: string) =>
    outer.replace('</saml:Assertion>', `${inner}</saml:Assertion>`);
  const asObject = (signature: string, inner: string) =>
    signature.replace('</Signature>', `<Object>${inner}</Object></Signature>`);
  const afterIssuer = (assertion: string, signature: string) =>
    assertion.replace('</saml:Issuer>', `</saml:Issuer>${signature}`);

  const wrappings: [string, RegExp, (response: SamlResponse) => string][] = [
    [
      '1 (the signed response inside the signature of an evil one)',
      /Invalid signature/,
      (r) => {
        const whole = signed(good(r), 'Response', { key });
        const signature = signatureIn(whole);
        const original = whole.replace(signature, '');
        return afterIssuer(responseXml(r, evil(r)), asObject(signature, original));
      },
    ],
    [
      '2 (the signed response beside the signature of an evil one)',
      /Invalid signature/,
      (r) => {
        const whole = signed(good(r), 'Response', { key });
        const signature = signatureIn(whole);
        const original = whole.replace(signature, '');
        return afterIssuer(responseXml(r, evil(r)), `${original}${signature}`);
      },
    ],
    [
      '3 (evil before the signed one)',
      /multiple assertions/,
      (r) => responseXml(r, evil(r), parts(good(r)).assertion),
    ],
    [
      '3 turned round (evil after the signed one)',
      /multiple assertions/,
      (r) => responseXml(r, parts(good(r)).assertion, evil(r)),
    ],
    [
      '4 (evil around the signed one)',
      /Invalid signature/,
      (r) => responseXml(r, within(evil(r), parts(good(r)).assertion)),
    ],
    [
      '5 (the signature in evil, the signed one behind)',
      /multiple assertions/,
      (r) => {
        const { signature, bare } = parts(good(r));
        return responseXml(r, afterIssuer(evil(r), signature), bare);
      },
    ],
    [
      '6 (the signed one inside the signature in evil)',
      /does not refer to it's parent/,
      (r) => {
        const { signature, bare } = parts(good(r));
        return responseXml(r, afterIssuer(evil(r), signature.replace('</Signature>', `${bare}</Signature>`)));
      },
    ],
    [
      '7 (evil in Extensions with the same id)',
      /more than one element/,
      (r) => {
        const { assertion, id } = parts(good(r));
        return responseXml(r, `<samlp:Extensions>${evil(r, id)}</samlp:Extensions>`, assertion);
      },
    ],
    [
      '8 (the signed one in an Object of the signature in evil, with the same id)',
      /more than one element/,
      (r) => {
        const { signature, bare, id } = parts(good(r));
        return responseXml(r, afterIssuer(evil(r, id), asObject(signature, bare)));
      },
    ],
    [
      'with the signed one in Extensions',
      /Invalid signature/,
      (r) => responseXml(r, `<samlp:Extensions>${parts(good(r)).assertion}</samlp:Extensions>`, evil(r)),
    ],
  ];
  it.each(wrappings)('%s', async (_name, reason, wrap) => {
    const attempt = await atProvider();
    await expectRefused(attempt, wrap(attempt.response), reason);
  });
});

describe('a comment in the signed name', () => {
  it('cuts nothing off', async () => {
    const attempt = await atProvider();
    attempt.response.nameId = 'comment@acme.test<!---->.evil.example';
    const xml = good(attempt.response);
    // Of another domain as a whole; cut at the comment it would be one of ours.
    expect((await post(attempt.relayState, xml)).status).toBe(403);
  });

  it('put there afterwards changes nothing, since it is not signed', async () => {
    const attempt = await atProvider();
    attempt.response.nameId = 'long.name@acme.test';
    const xml = good(attempt.response).replace('long.name@', 'long<!-- -->.name@');
    const { body } = await exchanged(attempt, await post(attempt.relayState, xml));
    expect(body.user.email).toBe('long.name@acme.test');
  });
});
