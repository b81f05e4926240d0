import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EntityManager } from '@mikro-orm/core';
import {
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { describeFailure } from '../../src/describe-failure.js';
import { DEMO_PASSWORD } from '../../src/domain/identity/demo-tenants.js';
import { seedDemo } from '../../src/domain/identity/seed-demo.js';
import { createSigningKeys } from '../../src/domain/identity/signing-keys.js';
import { SigningKey } from '../../src/entities/identity/signing-key.js';
import { openCuttableProxy } from '../support/cuttable-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { loggedIn } from './logged-in.js';
import { startNode, type TestNode } from './node.js';

let database: TestDatabase;
let node: TestNode;
let accessToken: string;
let refreshToken: string;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  await seedDemo(node.services);
  ({ accessToken, refreshToken } = await loggedIn(node.anonymous(), {
    email: 'agent@acme.test',
    password: DEMO_PASSWORD,
  }));
});

afterAll(async () => {
  await node.close();
  await database.close();
});

/** A token with the installation's own key, so that only the changed part can be what is refused. */
async function signedByUs(change: { claims?: JWTPayload; header?: object }): Promise<string> {
  const keys = createSigningKeys(node.services, 'itsm');
  const { privateKey } = await keys.current();
  await keys.close();
  const header = { ...decodeProtectedHeader(accessToken), ...change.header, alg: 'RS256' };
  return new SignJWT({ ...decodeJwt(accessToken), ...change.claims })
    .setProtectedHeader(header)
    .sign(privateKey);
}

const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

function signedByStranger(header: object): Promise<string> {
  return new SignJWT(decodeJwt(accessToken)).setProtectedHeader({ alg: 'RS256', ...header }).sign(stranger);
}

function tampered(): string {
  const [header, , signature] = accessToken.split('.');
  const claims = { ...decodeJwt(accessToken), role: 'super_admin' };
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}

/** RFC 8725 section 2.1: the public key, taken for an HMAC secret. */
async function signedWithPublicKey(): Promise<string> {
  const [jwk] = await node.services.itsmTokens.publicJwks();
  const { kid, typ } = decodeProtectedHeader(accessToken);
  const secret = Buffer.from(JSON.stringify(jwk));
  return new SignJWT(decodeJwt(accessToken))
    .setProtectedHeader({ alg: 'HS256', kid: `${kid}`, typ: `${typ}` })
    .sign(secret);
}

describe('an access token', () => {
  it('is accepted as it was issued, also the second time', async () => {
    const first = await node.services.itsmTokens.verify(accessToken);
    expect(await node.services.itsmTokens.verify(accessToken)).toBe(first);
    expect(await node.services.itsmTokens.verify(await signedByUs({}))).toEqual(first);
  });

  const kid = () => `${decodeProtectedHeader(accessToken).kid}`;
  const bad: [string, () => Promise<string> | string][] = [
    ['is empty', () => ''],
    ['is no JWT', () => 'abc.def.ghi'],
    ['has alg none', () => new UnsecuredJWT(decodeJwt(accessToken)).encode()],
    ['was tampered with', tampered],
    ['was signed by a stranger under our key id', () => signedByStranger({ kid: kid(), typ: 'at+jwt' })],
    ['was signed under an unknown key id', () => signedByStranger({ kid: randomUUID(), typ: 'at+jwt' })],
    ['was signed under no key id', () => signedByStranger({ typ: 'at+jwt' })],
    ['was signed with the public key as an HMAC secret', signedWithPublicKey],
    ['has another audience', () => signedByUs({ claims: { aud: 'opsgraph' } })],
    ['has another issuer', () => signedByUs({ claims: { iss: 'urn:someone:else' } })],
    ['has another type', () => signedByUs({ header: { typ: 'JWT' } })],
    ['lacks the session', () => signedByUs({ claims: { sessionId: undefined } })],
    ['has no expiry', () => signedByUs({ claims: { exp: undefined } })],
    ['has an unknown role', () => signedByUs({ claims: { role: 'root' } })],
    ['is a refresh token', () => refreshToken],
  ];
  it.each(bad)('is TOKEN_INVALID when it %s', async (_name, make) => {
    await expect(node.services.itsmTokens.verify(await make())).rejects.toMatchObject({
      code: 'TOKEN_INVALID',
    });
  });

  it('is TOKEN_EXPIRED after 900 seconds and not before, although it was seen before', async () => {
    const { iat = 0 } = decodeJwt(accessToken);
    const at = (seconds: number) => {
      node.clock.offsetMs = iat * 1_000 + seconds * 1_000 - Date.now();
    };
    at(899);
    await expect(node.services.itsmTokens.verify(accessToken)).resolves.toMatchObject({
      email: 'agent@acme.test',
    });
    at(901);
    await expect(node.services.itsmTokens.verify(accessToken)).rejects.toMatchObject({
      code: 'TOKEN_EXPIRED',
    });
    await expect(node.services.itsmTokens.verify(tampered())).rejects.toMatchObject({
      code: 'TOKEN_INVALID',
    });
    node.clock.offsetMs = 0;
  });
});

describe('signing keys', () => {
  it('are 2048-bit RSA keys published without their private half, and verify what we sign', async () => {
    const keys = await node.services.itsmTokens.publicJwks();
    expect(keys).toHaveLength(1);
    const [jwk] = keys;
    expect(Object.keys(jwk ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    expect(Buffer.from(jwk?.n ?? '', 'base64url')).toHaveLength(256);
    await expect(jwtVerify(accessToken, await importJWK({ ...jwk }))).resolves.toBeDefined();
  });

  it('are sealed at rest', async () => {
    const [row] = await database.orm.em.fork().find(SigningKey, {});
    expect(row?.sealedPrivateJwk).toMatch(/^v1\./);
    expect(row?.publicJwk).not.toHaveProperty('d');
  });

  it('are made once by nodes that start at the same moment', async () => {
    const empty = await createTestDatabase();
    const nodes = await Promise.all([startNode(empty.url), startNode(empty.url), startNode(empty.url)]);
    const published = await Promise.all(nodes.map(({ services }) => services.itsmTokens.publicJwks()));
    expect(new Set(published.flat().map(({ kid }) => kid)).size).toBe(1);
    expect(await empty.orm.em.fork().count(SigningKey, {})).toBe(1);
    await Promise.all(nodes.map((each) => each.close()));
    await empty.close();
  });

  it('go on verifying when retired, and the next one is known to other nodes at once', async () => {
    const other = await startNode(database.url);
    await other.services.itsmTokens.verify(accessToken);
    const keys = createSigningKeys(node.services, 'itsm');
    const before = await keys.current();
    await keys.rotate();
    const after = await keys.current();
    expect(after.kid).not.toBe(before.kid);
    const renewed = await signedByUs({ header: { kid: after.kid } });
    await expect(other.services.itsmTokens.verify(renewed)).resolves.toMatchObject({
      email: 'agent@acme.test',
    });
    await expect(other.services.itsmTokens.verify(accessToken)).resolves.toBeDefined();
    expect((await keys.publicJwks()).map(({ kid }) => kid)).toEqual([after.kid, before.kid]);
    await keys.close();
    await other.close();
  });

  it('read the table at most about once a second, however many unknown key ids arrive', async () => {
    const other = await startNode(database.url);
    await other.services.itsmTokens.publicJwks();
    const tokens = Array.from({ length: 50 }, () => signedByStranger({ kid: randomUUID(), typ: 'at+jwt' }));
    const find = jest.spyOn(EntityManager.prototype, 'find');
    const verdicts = await Promise.allSettled(
      tokens.map(async (token) => other.services.itsmTokens.verify(await token)),
    );
    const reads = find.mock.calls.filter(([entity]) => entity === SigningKey).length;
    find.mockRestore();
    expect(verdicts.every(({ status }) => status === 'rejected')).toBe(true);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThanOrEqual(2);
    await other.close();
  });
});

describe('while the database is away', () => {
  it('tokens of known keys are still verified, and a node that knows nothing yet says it cannot tell', async () => {
    const proxy = await openCuttableProxy(database.url);
    const running = await startNode(proxy.url);
    const credentials = { email: 'agent@acme.test', password: DEMO_PASSWORD };
    const seen = await loggedIn(running.anonymous(), credentials);
    const unseen = await loggedIn(running.anonymous(), credentials);
    await running.services.itsmTokens.verify(seen.accessToken);
    const fresh = await startNode(proxy.url);
    await proxy.cut();

    for (const { accessToken: token } of [seen, unseen])
      await expect(running.services.itsmTokens.verify(token)).resolves.toMatchObject({
        email: credentials.email,
      });
    const reason = await fresh.services.itsmTokens.verify(seen.accessToken).catch(describeFailure);
    expect(reason).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { service: 'database' } });
    await proxy.mend();
    await expect(fresh.services.itsmTokens.verify(seen.accessToken)).resolves.toBeDefined();
    await fresh.close();
    await running.close();
    await proxy.close();
  });
});
