import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CertifiedKey } from './certificate.js';
import {
  atProvider,
  exchanged,
  expectRefused,
  good,
  openSamlHouse,
  post,
  type SamlHouse,
} from './saml-house.js';
import {
  assertionXml,
  responseXml,
  type Response as SamlResponse,
  signatureIn,
  signed,
} from './saml-identity-provider.js';

let house: SamlHouse;
let key: CertifiedKey;
beforeAll(async () => {
  house = await openSamlHouse();
  key = house.key;
});
afterAll(() => house?.close());

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
        const whole = signed(good(house, r), 'Response', { key });
        const signature = signatureIn(whole);
        const original = whole.replace(signature, '');
        return afterIssuer(responseXml(r, evil(r)), asObject(signature, original));
      },
    ],
    [
      '2 (the signed response beside the signature of an evil one)',
      /Invalid signature/,
      (r) => {
        const whole = signed(good(house, r), 'Response', { key });
        const signature = signatureIn(whole);
        const original = whole.replace(signature, '');
        return afterIssuer(responseXml(r, evil(r)), `${original}${signature}`);
      },
    ],
    [
      '3 (evil before the signed one)',
      /multiple assertions/,
      (r) => responseXml(r, evil(r), parts(good(house, r)).assertion),
    ],
    [
      '3 turned round (evil after the signed one)',
      /multiple assertions/,
      (r) => responseXml(r, parts(good(house, r)).assertion, evil(r)),
    ],
    [
      '4 (evil around the signed one)',
      /Invalid signature/,
      (r) => responseXml(r, within(evil(r), parts(good(house, r)).assertion)),
    ],
    [
      '5 (the signature in evil, the signed one behind)',
      /multiple assertions/,
      (r) => {
        const { signature, bare } = parts(good(house, r));
        return responseXml(r, afterIssuer(evil(r), signature), bare);
      },
    ],
    [
      '6 (the signed one inside the signature in evil)',
      /does not refer to it's parent/,
      (r) => {
        const { signature, bare } = parts(good(house, r));
        return responseXml(r, afterIssuer(evil(r), signature.replace('</Signature>', `${bare}</Signature>`)));
      },
    ],
    [
      '7 (evil in Extensions with the same id)',
      /more than one element/,
      (r) => {
        const { assertion, id } = parts(good(house, r));
        return responseXml(r, `<samlp:Extensions>${evil(r, id)}</samlp:Extensions>`, assertion);
      },
    ],
    [
      '8 (the signed one in an Object of the signature in evil, with the same id)',
      /more than one element/,
      (r) => {
        const { signature, bare, id } = parts(good(house, r));
        return responseXml(r, afterIssuer(evil(r, id), asObject(signature, bare)));
      },
    ],
    [
      'with the signed one in Extensions',
      /Invalid signature/,
      (r) =>
        responseXml(r, `<samlp:Extensions>${parts(good(house, r)).assertion}</samlp:Extensions>`, evil(r)),
    ],
  ];
  it.each(wrappings)('%s', async (_name, reason, wrap) => {
    const attempt = await atProvider(house);
    await expectRefused(house, attempt, wrap(attempt.response), reason);
  });
});

describe('a comment in the signed name', () => {
  it('cuts nothing off', async () => {
    const attempt = await atProvider(house);
    attempt.response.nameId = 'comment@acme.test<!---->.evil.example';
    const xml = good(house, attempt.response);
    // Of another domain as a whole; cut at the comment it would be one of ours.
    expect((await post(house, attempt.relayState, xml)).status).toBe(403);
  });

  it('put there afterwards changes nothing, since it is not signed', async () => {
    const attempt = await atProvider(house);
    attempt.response.nameId = 'long.name@acme.test';
    const xml = good(house, attempt.response).replace('long.name@', 'long<!-- -->.name@');
    const { body } = await exchanged(house, attempt, await post(house, attempt.relayState, xml));
    expect(body.user.email).toBe('long.name@acme.test');
  });
});
