import { createServer, type RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type CryptoKey, exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { createPlatformTokens, discoveredIssuer } from '../../src/domain/identity/index.js';
import { listen } from '../oidc/served-issuer.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { caller } from '../support/rest.js';
import { newIssuerKey, OutsideIssuer } from './outside-issuer.js';

const home = { workspaceId: '' };
const READ = '/api/v1/pipelines';
const AWAY = {
  status: 503,
  body: { error: 'SERVICE_UNAVAILABLE', service: 'oidc' },
};

let outside: OutsideIssuer;
let app: TestApp;

beforeAll(async () => {
  outside = await new OutsideIssuer(home).start();
  // It must not keep the server from starting.
  outside.failing = true;
  app = await startTestApp({ OIDC_DISCOVERY_URL: outside.discoveryUrl });
  const [workspace] = await app.database.orm.em.execute<{ id: string }[]>(
    `select w.id from workspace w join organization o on o.id = w.organization_id where o.slug = 'acme'`,
  );
  home.workspaceId = `${workspace?.id}`;
});

afterAll(async () => {
  await app?.close();
  await outside?.close();
});

const as = (token: string) => caller(app.url, { authorization: `Bearer ${token}` });

async function statusOf(token: string): Promise<number> {
  return (await as(token)('GET', READ)).status;
}

describe('a server whose issuer is somebody else', () => {
  it('starts without it, answers 503 and not 401 to its tokens, and heals by itself', async () => {
    const token = await outside.sign({ sub: 'early' });
    const away = await as(token)('GET', READ);
    expect(away).toMatchObject(AWAY);
    expect(away.headers.get('retry-after')).toBe('1');
    expect(away.headers.get('www-authenticate')).toBeNull();
    const asked = { query: '{ connections { id } }' };
    const graph = await as(token)('POST', '/graphql', asked);
    expect(JSON.stringify(graph.body)).toContain('SERVICE_UNAVAILABLE');
    outside.failing = false;
    await eventually(async () => (await statusOf(token)) === 200);
    expect((await as(token)('POST', '/graphql', asked)).status).toBe(200);
  });

  it('answers /v1 meanwhile, and has no issuer of its own', async () => {
    outside.failing = true;
    const call = caller(app.url, await app.itsm('agent@acme.test'));
    expect((await call('GET', '/v1/users/me')).status).toBe(200);
    outside.failing = false;
    expect((await fetch(`${app.url}/oidc/.well-known/openid-configuration`)).status).toBe(404);
  });

  it('still refuses what is no token of the issuer: 401', async () => {
    const [first] = outside.keys;
    if (!first) throw new Error('no key');
    const publicKey = await importJWK(first.publicJwk, 'RS256');
    const pem = await exportSPKI(publicKey as CryptoKey);
    const forged = await new SignJWT(outside.claims)
      .setProtectedHeader({ alg: 'HS256', kid: first.kid })
      .sign(Buffer.from(pem));
    for (const token of [forged, new UnsecuredJWT(outside.claims).encode(), 'x.y.z'])
      expect(await statusOf(token)).toBe(401);
    expect(await statusOf(await outside.sign({ aud: 'another' }))).toBe(401);
    expect(await statusOf(await outside.sign({ iss: 'https://evil.test' }))).toBe(401);
  });

  it('follows the issuer to new keys, by overlap and at once', async () => {
    const old = outside.keys[0];
    if (!old) throw new Error('no key');
    const next = await newIssuerKey('next');
    outside.keys = [old, next];
    const byNext = await outside.sign({ sub: 'overlap' }, next.privateKey, 'next');
    await eventually(async () => (await statusOf(byNext)) === 200);
    expect(await statusOf(await outside.sign({ sub: 'overlap-old' }, old.privateKey, old.kid))).toBe(200);
    outside.keys = [await newIssuerKey('last')];
    const byLast = await outside.sign({ sub: 'at-once' });
    await eventually(async () => (await statusOf(byLast)) === 200);
    expect(await statusOf(await outside.sign({ sub: 'gone' }, old.privateKey, old.kid))).toBe(401);
  });
});

describe('the algorithms of an outside issuer', () => {
  function verifier() {
    const issuer = discoveredIssuer(outside.discoveryUrl);
    return createPlatformTokens({ issuer, audience: 'opsgraph', services: app.services });
  }

  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'])(
    'may be %s',
    async (alg) => {
      outside.keys = [await newIssuerKey(`key-${alg}`, alg)];
      await expect(verifier().verify(await outside.sign())).resolves.toMatchObject({ subject: 'user-1' });
    },
  );

  it('are those the key is for: a key of RS256 verifies no PS256', async () => {
    const published = await newIssuerKey('one', 'RS256');
    outside.keys = [published];
    const { privateKey } = await newIssuerKey('one', 'PS256');
    const token = await outside.sign({}, privateKey, 'one', 'PS256');
    await expect(verifier().verify(token)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  it('belong to keys for signatures: one for encryption verifies nothing', async () => {
    const key = await newIssuerKey('for-encryption');
    outside.keys = [{ ...key, publicJwk: { ...key.publicJwk, use: 'enc' } }];
    await expect(verifier().verify(await outside.sign())).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  it('leave a token that does not say which of several keys it is signed with to its sender: 401, not 503', async () => {
    outside.keys = [await newIssuerKey('one'), await newIssuerKey('two')];
    const token = await outside.sign({}, outside.keys[0]?.privateKey, null);
    await expect(verifier().verify(token)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });
});

describe('a discovery document', () => {
  const bad: [string, RequestListener][] = [
    ['is no JSON', (_request, response) => response.end('<html>')],
    ['names no keys', (_request, response) => response.end('{}')],
    [
      'is somewhere else',
      (_request, response) => response.writeHead(302, { location: outside.discoveryUrl }).end(),
    ],
  ];
  it.each(bad)('that %s is an issuer that is away', async (_name, instead) => {
    const spoiled = await new OutsideIssuer(home).start();
    spoiled.instead = instead;
    const issuer = discoveredIssuer(spoiled.discoveryUrl);
    const tokens = createPlatformTokens({ issuer, audience: 'opsgraph', services: app.services });
    await expect(tokens.verify(await spoiled.sign())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { service: 'oidc', retryAfter: 1 },
    });
    await spoiled.close();
  });

  it('may name another place for the keys later', async () => {
    const moving = await new OutsideIssuer(home).start();
    const issuer = discoveredIssuer(moving.discoveryUrl);
    const tokens = createPlatformTokens({ issuer, audience: 'opsgraph', services: app.services });
    await tokens.verify(await moving.sign());
    moving.keysPath = '/moved';
    await moving.rotate('moved');
    const inAnHour = performance.now() + 3_600_001;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(inAnHour);
    await expect(tokens.verify(await moving.sign({ sub: 'later' }))).resolves.toMatchObject({
      subject: 'later',
    });
    clock.mockRestore();
    await moving.close();
  });

  it('that never comes is one that is away, after five seconds', async () => {
    const silent = createServer(() => undefined);
    const origin = await listen(silent);
    const tokens = createPlatformTokens({
      issuer: discoveredIssuer(`${origin}/.well-known/openid-configuration`),
      audience: 'opsgraph',
      services: app.services,
    });
    const begun = performance.now();
    await expect(tokens.verify(await outside.sign())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(performance.now() - begun).toBeLessThan(7_000);
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });
});
