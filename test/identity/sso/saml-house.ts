import { expect } from '@jest/globals';
import { type CertifiedKey, selfSigned } from './certificate.js';
import {
  assertionXml,
  IDP_ENTITY,
  readRequest,
  responseXml,
  type Response as SamlResponse,
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

export const MINUTE_MS = 60_000;
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

export interface SamlHouse extends SsoHouse {
  /** The provider's. */
  key: CertifiedKey;
  /** Of the provider's name, but nobody told us of it. */
  stranger: CertifiedKey;
  providerId: string;
}

/** The whole server, and a SAML provider that acme and globex trust. */
export async function openSamlHouse(): Promise<SamlHouse> {
  const house = await openSsoHouse();
  const key = selfSigned('idp.example');
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
  const elsewhere = { ...provider, certificates: [key.certificate], emailDomains: [] };
  expect((await house.globexAdmin('POST', '/v1/sso-providers', elsewhere)).status).toBe(201);
  return { ...house, key, stranger: selfSigned('idp.example'), providerId: body.id };
}

export interface Attempt {
  client: Client;
  relayState: string;
  response: SamlResponse;
}

/** A login that is at the provider, and what a good provider would answer. */
export async function atProvider(
  house: SsoHouse,
  overrides: Record<string, string | undefined> = {},
): Promise<Attempt> {
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

export function post(
  house: SsoHouse,
  relayState: string,
  xml: string,
  address = callbackUrl(house.app, 'saml'),
) {
  const body = new URLSearchParams({
    SAMLResponse: Buffer.from(xml).toString('base64'),
    RelayState: relayState,
  });
  return fetch(address, { method: 'POST', body, redirect: 'manual' });
}

/** The answer of a good provider. */
export const good = ({ key }: SamlHouse, response: SamlResponse) =>
  signed(responseXml(response, assertionXml(response)), 'Assertion', { key });

export async function exchanged(house: SsoHouse, { client }: Attempt, answer: globalThis.Response) {
  expect(answer.status).toBe(302);
  const back = new URL(`${answer.headers.get('location')}`);
  expect(back.href.startsWith(CLIENT_REDIRECT)).toBe(true);
  expect(back.searchParams.get('state')).toBe(client.state);
  const code = back.searchParams.get('code');
  return house.anonymous('POST', '/v1/auth/sso/token', { code, code_verifier: client.verifier });
}

export async function expectRefused(
  house: SsoHouse,
  attempt: Attempt,
  xml: string,
  reason: RegExp,
): Promise<void> {
  const answer = await post(house, attempt.relayState, xml);
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
