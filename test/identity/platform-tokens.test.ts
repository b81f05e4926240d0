import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import type { PlatformTokens } from '../../src/context.js';
import {
  createPlatformTokens,
  DEMO_PASSWORD,
  type DemoTenant,
  discoveredIssuer,
  embeddedIssuer,
  seedDemo,
} from '../../src/domain/identity/index.js';
import { type ServedIssuer, serveIssuer } from '../oidc/served-issuer.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startNode, type TestNode } from './node.js';
import { OutsideIssuer } from './outside-issuer.js';

const TOKEN_INVALID = { code: 'TOKEN_INVALID' };
const FORBIDDEN = { code: 'AUTHORIZATION_ERROR' };
const AWAY = { code: 'SERVICE_UNAVAILABLE', details: { service: 'oidc', retryAfter: 1 } };

let database: TestDatabase;
let node: TestNode;
let acme: DemoTenant;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  ({ acme } = await seedDemo(node.services));
});

afterAll(async () => {
  await node.close();
  await database.close();
});

function verifierOf(outside: { origin: string }): PlatformTokens {
  const issuer = discoveredIssuer(`${outside.origin}/.well-known/openid-configuration`);
  return createPlatformTokens({ issuer, audience: 'opsgraph', services: node.services });
}

describe('a token of an outside issuer', () => {
  let outside: OutsideIssuer;
  let tokens: PlatformTokens;

  beforeAll(async () => {
    outside = await new OutsideIssuer(acme).start();
  });
  beforeEach(() => {
    tokens = verifierOf(outside);
    outside.requests = [];
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => outside.close());

  it('says who sent it, in which workspace, with the roles we know', async () => {
    expect(await tokens.verify(await outside.sign())).toEqual({
      issuer: outside.origin,
      subject: 'user-1',
      email: 'ann@acme.test',
      roles: ['ANALYST', 'ENGINEER'],
      workspaceId: acme.workspaceId,
      workspaceSlug: 'default',
      organizationId: acme.organizationId,
      expiresAt: expect.any(Number),
    });
  });

  it('is checked with one reading of discovery and keys, however many arrive', async () => {
    const signed = await Promise.all(
      Array.from({ length: 20 }, (_, index) => outside.sign({ sub: `user-${index}` })),
    );
    await Promise.all(signed.map((token) => tokens.verify(token)));
    expect(outside.requests).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  const bad: [string, () => Promise<string>][] = [
    ['alg none', async () => new UnsecuredJWT(outside.claims).encode()],
    ['another audience', () => outside.sign({ aud: 'account' })],
    ['another issuer', () => outside.sign({ iss: 'https://evil.test' })],
    ['no expiry', () => outside.sign({ exp: undefined })],
    ['no subject', () => outside.sign({ sub: undefined })],
    [
      'a signature of somebody else',
      async () => outside.sign({}, (await generateKeyPair('RS256')).privateKey),
    ],
    ['a key nobody knows', async () => outside.sign({}, undefined, 'unknown')],
    [
      'a secret made of the public key',
      async () =>
        new SignJWT(outside.claims)
          .setProtectedHeader({ alg: 'HS256', kid: 'first' })
          .sign(Buffer.from('first'.repeat(10))),
    ],
    [
      'a changed payload',
      async () => {
        const [header, , signature] = (await outside.sign()).split('.');
        const claims = { ...outside.claims, realm_access: { roles: ['ADMIN'] } };
        return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
      },
    ],
    ['no form at all', async () => 'token'],
  ];
  it.each(bad)('is TOKEN_INVALID with %s', async (_name, make) => {
    await expect(tokens.verify(await make())).rejects.toMatchObject(TOKEN_INVALID);
  });

  it('is TOKEN_EXPIRED when it was good once, also when it was seen before', async () => {
    const token = await outside.sign();
    await tokens.verify(token);
    node.clock.offsetMs = 301_000;
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'TOKEN_EXPIRED' });
    node.clock.offsetMs = 0;
  });

  it.each([
    ['no role of ours', { realm_access: { roles: ['uma_authorization'] } }],
    ['no roles', { realm_access: undefined }],
    ['no workspace', { workspace_id: undefined }],
    ['an unknown workspace', { workspace_id: '0190a5ae-7c3f-7000-8000-000000000000' }],
    ['a workspace that is no id', { workspace_id: 'default' }],
  ])('is forbidden with %s', async (_name, claims) => {
    await expect(tokens.verify(await outside.sign(claims))).rejects.toMatchObject(FORBIDDEN);
  });

  it('is accepted after the issuer changed its keys, and those of the old key no more', async () => {
    const old = await outside.sign({ sub: 'late' });
    // Unknown key ids make us ask again once a second, not more often.
    const began = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(began);
    await tokens.verify(await outside.sign());
    await outside.rotate('second');
    const signed = await outside.sign();
    clock.mockReturnValue(began + 999);
    await expect(tokens.verify(signed)).rejects.toMatchObject(TOKEN_INVALID);
    expect(outside.requests).toEqual(['/.well-known/openid-configuration', '/keys']);
    clock.mockReturnValue(began + 1_000);
    await expect(tokens.verify(signed)).resolves.toMatchObject({ subject: 'user-1' });
    await expect(tokens.verify(old)).rejects.toMatchObject(TOKEN_INVALID);
    expect(outside.requests).toEqual(['/.well-known/openid-configuration', '/keys', '/keys']);
  });
});

describe('an issuer that is away', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is 503 and not 401, is asked once a second at most, and heals by itself', async () => {
    const outside = await new OutsideIssuer(acme).start();
    const tokens = verifierOf(outside);
    const token = await outside.sign();
    outside.failing = true;
    const began = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(began);
    const verdicts = await Promise.allSettled(Array.from({ length: 20 }, () => tokens.verify(token)));
    for (const verdict of verdicts) expect(verdict).toMatchObject({ status: 'rejected', reason: AWAY });
    outside.failing = false;
    clock.mockReturnValue(began + 999);
    await expect(tokens.verify(token)).rejects.toMatchObject(AWAY);
    expect(outside.requests).toHaveLength(1);
    clock.mockReturnValue(began + 1_000);
    await expect(tokens.verify(token)).resolves.toMatchObject({ subject: 'user-1' });
    await outside.close();
  });

  it('is 503 when nothing listens, and when discovery answers but the keys do not', async () => {
    const outside = await new OutsideIssuer(acme).start();
    const token = await outside.sign();
    const tokens = verifierOf(outside);
    await tokens.verify(token);
    const halfAway = verifierOf(outside);
    outside.server.prependListener('request', ({ url }) => {
      outside.failing = url === '/keys';
    });
    await expect(halfAway.verify(token)).rejects.toMatchObject(AWAY);
    await outside.close();
    await expect(verifierOf(outside).verify(token)).rejects.toMatchObject(AWAY);
    // A token that was verified before stays good: nobody has to be asked again.
    await expect(tokens.verify(token)).resolves.toBeDefined();
  });
});

describe('a token of the embedded issuer', () => {
  let served: ServedIssuer;
  beforeAll(async () => {
    served = await serveIssuer(node);
  });
  afterAll(() => served.close());

  async function tokenOf(clientId: string): Promise<string> {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: DEMO_PASSWORD,
    });
    const response = await fetch(`${served.issuer}/token`, { method: 'POST', body });
    const { access_token } = (await response.json()) as { access_token: string };
    return access_token;
  }

  it('is good on every node, without one asking another', async () => {
    const other = await startNode(database.url);
    const { createSigningKeys } = await import('../../src/domain/identity/index.js');
    const keys = createSigningKeys(other.services, 'oidc');
    const tokens = createPlatformTokens({
      issuer: embeddedIssuer(undefined, keys),
      audience: 'opsgraph',
      services: other.services,
    });
    const token = await tokenOf('demo-globex-engineer');
    expect(await tokens.verify(token)).toMatchObject({
      subject: 'demo-globex-engineer',
      roles: ['ENGINEER'],
    });
    const [header, claims, signature = ''] = token.split('.');
    const broken = [header, claims, signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))].join(
      '.',
    );
    await expect(tokens.verify(broken)).rejects.toMatchObject(TOKEN_INVALID);
    await keys.close();
    await other.close();
  });

  it('must come from the public address when there is one', async () => {
    const strict = createPlatformTokens({
      issuer: embeddedIssuer('https://ops.example.test', served.keys),
      audience: 'opsgraph',
      services: node.services,
    });
    await expect(strict.verify(await tokenOf('demo-viewer'))).rejects.toMatchObject(TOKEN_INVALID);
  });

  it('works through discovery as any other issuer’s does', async () => {
    const tokens = createPlatformTokens({
      issuer: discoveredIssuer(`${served.issuer}/.well-known/openid-configuration`),
      audience: 'opsgraph',
      services: node.services,
    });
    expect(await tokens.verify(await tokenOf('demo-steward'))).toMatchObject({ roles: ['STEWARD'] });
  });
});
