import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { DEMO_PASSWORD, type DemoTenant } from '../../src/domain/identity/index.js';
import { OidcArtifact } from '../../src/entities/identity/oidc-artifact.js';
import { startNode, type TestNode } from '../identity/node.js';
import { openCuttableProxy } from '../support/cuttable-proxy.js';
import type { TestDatabase } from '../support/database.js';
import { authorize, REDIRECT_URI } from './authorization.js';
import { type IssuerHouse, openIssuerHouse, type ServedIssuer, serveIssuer } from './served-issuer.js';

let house: IssuerHouse;
let database: TestDatabase;
let node: TestNode;
let acme: DemoTenant;
let served: ServedIssuer;

beforeAll(async () => {
  house = await openIssuerHouse();
  ({ database, node, acme, served } = house);
});

afterAll(() => house.close());

describe('several nodes', () => {
  it('sign with a new key as soon as one of them has made it, and go on publishing the old one', async () => {
    const other = await startNode(database.url);
    const there = await serveIssuer(other);
    const keysOf = async (at: ServedIssuer) => {
      const { keys } = (await (await fetch(`${at.issuer}/jwks`)).json()) as { keys: { kid: string }[] };
      return keys.map(({ kid }) => kid);
    };
    const signedWith = async (at: ServedIssuer) => {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'demo-viewer',
        client_secret: DEMO_PASSWORD,
      });
      const response = await fetch(`${at.issuer}/token`, { method: 'POST', body });
      const { access_token } = (await response.json()) as { access_token: string };
      return decodeProtectedHeader(access_token).kid;
    };
    const [before] = await keysOf(there);
    const rebuilt = new Promise<void>((resolve) => there.keys.onChange(resolve));
    await served.keys.rotate();
    await rebuilt;
    const deadline = Date.now() + 2_000;
    while ((await keysOf(there)).length < 2 && Date.now() < deadline) await fetch(`${there.issuer}/jwks`);
    const [newest, oldest] = await keysOf(there);
    expect(oldest).toBe(before);
    expect(newest).not.toBe(before);
    expect(await signedWith(there)).toBe(newest);
    await there.close();
    await other.close();
  });

  it('may stand behind a path of the public address', async () => {
    const other = await startNode(database.url, { PUBLIC_URL: 'https://example.test/ops' });
    const here = await serveIssuer(other, 'https://example.test/ops');
    const document = await (await fetch(`${here.origin}/oidc/.well-known/openid-configuration`)).json();
    expect(document).toMatchObject({
      issuer: 'https://example.test/ops/oidc',
      token_endpoint: 'https://example.test/ops/oidc/token',
      jwks_uri: 'https://example.test/ops/oidc/jwks',
    });
    await here.close();
    await other.close();
  });

  it('share what the issuer remembers: a flow begun on one ends on another', async () => {
    const other = await startNode(database.url, { PUBLIC_URL: 'https://ops.example.test' });
    const here = await serveIssuer(other, 'https://ops.example.test');
    const document = await (
      await fetch(`${here.origin}/oidc/.well-known/openid-configuration`, {
        headers: { 'x-forwarded-host': 'evil.test' },
      })
    ).json();
    expect(document).toMatchObject({
      issuer: 'https://ops.example.test/oidc',
      token_endpoint: 'https://ops.example.test/oidc/token',
    });
    const { url, verifier } = await authorize(served.issuer, 'agent@acme.test');
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'opsgraph-ui',
      code: `${url.searchParams.get('code')}`,
      redirect_uri: REDIRECT_URI,
      code_verifier: verifier,
    });
    const response = await fetch(`${here.origin}/oidc/token`, { method: 'POST', body });
    expect(response.status).toBe(200);
    const { access_token } = (await response.json()) as { access_token: string };
    expect(decodeJwt(access_token)).toMatchObject({
      iss: 'https://ops.example.test/oidc',
      sub: acme.userIds.agent,
    });
    await here.close();
    await other.close();
  });

  it('keep codes, cookies and tokens unreadable at rest', async () => {
    const { url } = await authorize(served.issuer, 'agent@acme.test');
    const rows = await database.orm.em.fork().find(OidcArtifact, {});
    const stored = JSON.stringify(rows);
    expect(rows.some(({ model }) => model === 'AuthorizationCode')).toBe(true);
    expect(stored).not.toContain(`${url.searchParams.get('code')}`);
    expect(stored).not.toContain('agent@acme.test');
    expect(stored).not.toContain(acme.userIds.agent);
    for (const secret of [DEMO_PASSWORD, `${url.searchParams.get('code')}`])
      expect(node.logged()).not.toContain(secret);
  });
});

describe('while the database is away', () => {
  it('the issuer says so in its own format, and heals by itself', async () => {
    const proxy = await openCuttableProxy(database.url);
    const other = await startNode(proxy.url);
    const there = await serveIssuer(other);
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'demo-viewer',
      client_secret: DEMO_PASSWORD,
    });
    const ask = () => fetch(`${there.issuer}/token`, { method: 'POST', body });
    expect((await ask()).status).toBe(200);
    await proxy.cut();
    const away = await ask();
    expect(away.status).toBe(503);
    expect(await away.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'the database is unavailable',
    });
    await proxy.mend();
    expect((await ask()).status).toBe(200);
    await there.close();
    await other.close();
    await proxy.close();
  });
});
