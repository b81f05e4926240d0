import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeJwt, UnsecuredJWT } from 'jose';
import {
  type Authenticator,
  createAuthenticator,
  createPlatformTokens,
  DEMO_PASSWORD,
  embeddedIssuer,
  seedDemo,
} from '../../src/domain/identity/index.js';
import { type ServedIssuer, serveIssuer } from '../oidc/served-issuer.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { loggedIn } from './logged-in.js';
import { startNode, type TestNode } from './node.js';

const TOKEN_INVALID = { code: 'TOKEN_INVALID' };

let database: TestDatabase;
let node: TestNode;
let served: ServedIssuer;
let authenticator: Authenticator;
let ours: string;
let theirs: string;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  await seedDemo(node.services);
  served = await serveIssuer(node);
  const issuer = embeddedIssuer(undefined, served.keys);
  const platformTokens = createPlatformTokens({ issuer, audience: 'opsgraph', services: node.services });
  authenticator = createAuthenticator({ ...node.services, platformTokens });
  ours = (await loggedIn(node.anonymous(), { email: 'user@acme.test', password: DEMO_PASSWORD })).accessToken;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'demo-admin',
    client_secret: DEMO_PASSWORD,
  });
  const response = await fetch(`${served.issuer}/token`, { method: 'POST', body });
  theirs = ((await response.json()) as { access_token: string }).access_token;
});

afterAll(async () => {
  await authenticator.close();
  await served.close();
  await node.close();
  await database.close();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('authenticate', () => {
  it('finds nobody behind a request without a credential', async () => {
    for (const door of ['itsm', 'platform', 'either'] as const)
      expect(await authenticator.authenticate({}, door)).toEqual({});
  });

  it('takes at each door the tokens meant for it', async () => {
    expect(await authenticator.authenticate(bearer(ours), 'itsm')).toMatchObject({
      itsm: { role: 'end_user' },
    });
    expect(await authenticator.authenticate(bearer(theirs), 'platform')).toMatchObject({
      platform: { subject: 'demo-admin', roles: ['ADMIN'] },
    });
    expect(await authenticator.authenticate(bearer(ours), 'either')).toMatchObject({
      itsm: { role: 'end_user' },
    });
    expect(Object.keys(await authenticator.authenticate(bearer(theirs), 'either'))).toEqual(['platform']);
    await expect(authenticator.authenticate(bearer(theirs), 'itsm')).rejects.toMatchObject(TOKEN_INVALID);
    await expect(authenticator.authenticate(bearer(ours), 'platform')).rejects.toMatchObject(TOKEN_INVALID);
  });

  it('reads the scheme in any case', async () => {
    await expect(
      authenticator.authenticate({ authorization: `bearer  ${ours} ` }, 'itsm'),
    ).resolves.toMatchObject({ itsm: {} });
  });

  it.each([
    '',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    'Bearer a b',
    'Bearer\tx',
    'Bearer x, Bearer y',
    'x',
  ])('refuses the header %j', async (authorization) => {
    for (const door of ['itsm', 'platform', 'either'] as const)
      await expect(authenticator.authenticate({ authorization }, door)).rejects.toMatchObject(TOKEN_INVALID);
  });

  it('believes no unverified issuer', async () => {
    for (const token of [ours, theirs]) {
      const unsigned = new UnsecuredJWT(decodeJwt(token)).encode();
      await expect(authenticator.authenticateBearer(unsigned, 'either')).rejects.toMatchObject(TOKEN_INVALID);
    }
  });

  it('refuses whatever is not a token, and never fails in another way', async () => {
    const base64url = fc.string({ unit: 'binary' }).map((text) => Buffer.from(text).toString('base64url'));
    const json = fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
    const segments = fc.array(fc.oneof(base64url, json), { minLength: 1, maxLength: 5 });
    const token = fc.oneof(
      fc.string(),
      segments.map((parts) => parts.join('.')),
    );
    await fc.assert(
      fc.asyncProperty(token, fc.constantFrom('itsm', 'platform', 'either'), async (text, door) => {
        await expect(authenticator.authenticateBearer(text, door)).rejects.toMatchObject(TOKEN_INVALID);
      }),
      { numRuns: 500 },
    );
  });
});
