import {
  type CacheProvider,
  generateServiceProviderMetadata,
  SAML,
  ValidateInResponseTo,
} from '@node-saml/node-saml';
import { refused } from './refused.js';
import { assertedSubject } from './saml-assertion.js';
import { samlDocument } from './saml-document.js';
import type { SingleSignOn, SsoAttempt, SsoConnection, SsoProfile } from './sso-protocol.js';

/** How far the provider's clock may be from ours. */
const CLOCK_SKEW_MS = 60_000;
/** However long the provider says: an assertion is for now. */
const MAX_ASSERTION_AGE_MS = 10 * 60_000;

const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const emailAttributes = [
  'email',
  'mail',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];
const nameAttributes = [
  'displayName',
  'name',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'http://schemas.microsoft.com/identity/claims/displayname',
];

/**
 * SAML 2.0 Web Browser SSO: requests by redirect, responses by POST. Only answers to a request of ours are taken, and
 * a request is answered once, so that a response can't be replayed or brought unasked.
 */
export function createSamlServiceProvider({ now }: { now(): Date }): SingleSignOn['saml'] {
  return {
    async begin(connection, attempt) {
      const url = await partner(connection, attempt).getAuthorizeUrlAsync(attempt.state, undefined, {});
      return new URL(url);
    },

    async finish(connection, attempt, answer) {
      try {
        const encoded = answer['SAMLResponse'] ?? '';
        samlDocument(encoded);
        const { profile } = await partner(connection, attempt).validatePostResponseAsync({
          SAMLResponse: encoded,
        });
        const subject = assertedSubject(profile?.getAssertion?.(), {
          recipient: connection.callbackUrl,
          requestId: attempt.nonce,
          issuer: connection.issuer,
          now: now(),
          clockSkewMs: CLOCK_SKEW_MS,
        });
        return profileOf(subject, attributesOf(profile?.['attributes']));
      } catch (error) {
        throw refused(error);
      }
    },

    metadata: ({ callbackUrl, entityId }) =>
      generateServiceProviderMetadata({
        callbackUrl,
        issuer: entityId,
        identifierFormat: null,
        wantAssertionsSigned: true,
      }),
  };
}

function partner(connection: SsoConnection, { nonce }: SsoAttempt): SAML {
  return new SAML({
    callbackUrl: connection.callbackUrl,
    issuer: connection.entityId,
    audience: connection.entityId,
    entryPoint: connection.entryPoint ?? '',
    idpIssuer: connection.issuer,
    idpCert: [...connection.certificates],
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    wantAssertionsSigned: true,
    // What counts is inside the assertion; many providers sign nothing else.
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: CLOCK_SKEW_MS,
    maxAssertionAgeMs: MAX_ASSERTION_AGE_MS,
    validateInResponseTo: ValidateInResponseTo.always,
    generateUniqueId: () => nonce,
    cacheProvider: onlyRequest(nonce),
  });
}

/** node-saml asks which requests are awaited: it is this one, and whether it still is was settled in the database. */
function onlyRequest(id: string): CacheProvider {
  return {
    saveAsync: async (_key, value) => ({ value, createdAt: Date.now() }),
    getAsync: async (key) => (key === id ? new Date().toISOString() : null),
    removeAsync: async (key) => key,
  };
}

function attributesOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function profileOf(
  { nameId, format }: ReturnType<typeof assertedSubject>,
  claims: Readonly<Record<string, unknown>>,
): SsoProfile {
  const email = format === EMAIL_FORMAT ? nameId : firstOf(claims, emailAttributes);
  return {
    subject: nameId,
    email: email?.trim().toLowerCase(),
    // SAML has no word for it: what the organization's own provider asserts about its people is what it knows.
    emailVerified: email !== undefined,
    name: firstOf(claims, nameAttributes),
    claims,
  };
}

function firstOf(claims: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const values = names.flatMap((name) => claims[name]);
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '')?.trim();
}
