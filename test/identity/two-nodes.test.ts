import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { type App, startApp } from '../../src/app.js';
import { parseConfig } from '../../src/config.js';
import { rotateDueKeys } from '../../src/domain/identity/index.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { clientCredential, userCredential } from '../support/credentials.js';
import { eventually } from '../support/eventually.js';
import { caller } from '../support/rest.js';
import { runLog } from '../support/run-log.js';

const DAY_MS = 24 * 3_600_000;

let first: TestApp;
let second: App;

beforeAll(async () => {
  first = await startTestApp();
  const config = parseConfig(
    {
      PORT: '0',
      DATABASE_URL: first.database.url,
      DATA_DIR: first.dataDir,
      SEED: 'none',
      DATABASE_POOL_SIZE: '8',
      RATE_LIMIT_DISABLED: 'true',
    },
    first.dataDir,
  );
  second = await startApp({ config, log: runLog() });
});

afterAll(async () => {
  await second.shutdown.drain('test over');
  await first.close();
});

/** The other node is woken, so this is milliseconds; what makes up for a lost wake-up takes 5 s. */
const soon = (holds: () => Promise<boolean>) => eventually(holds, 2_000);

const statusAt = async (url: string, headers: Record<string, string>, path = '/v1/tickets') =>
  (await caller(url, headers)('GET', path)).status;

const kidOf = ({ authorization }: Record<string, string>) =>
  decodeProtectedHeader(`${authorization}`.slice('Bearer '.length)).kid;

async function published(url: string): Promise<unknown[]> {
  const { body } = await caller(url)('GET', '/v1/.well-known/jwks.json');
  return body.keys.map(({ kid }: { kid: string }) => kid);
}

describe('what one node refuses the other refuses at once', () => {
  it('a deleted API key', async () => {
    const admin = caller(first.url, await first.itsm('admin@acme.test'));
    const { body } = await admin('POST', '/v1/api-keys', { name: 'x', permissions: ['tickets:read:all'] });
    const key = { 'x-api-key': body.key };
    expect(await statusAt(second.url, key)).toBe(200);
    await admin('DELETE', `/v1/api-keys/${body.id}`);
    expect(await statusAt(first.url, key)).toBe(401);
    await soon(async () => (await statusAt(second.url, key)) === 401);
  });

  it('a revoked access token, and a session that an administrator ended', async () => {
    const one = await first.itsm('agent@acme.test');
    const other = await first.itsm('agent@acme.test');
    expect(await statusAt(second.url, one)).toBe(200);
    expect(await statusAt(second.url, other)).toBe(200);
    const token = `${one['authorization']}`.slice('Bearer '.length);
    await caller(first.url, other)('POST', '/v1/auth/tokens/revoke', { token });
    await soon(async () => (await statusAt(second.url, one)) === 401);
    expect(await statusAt(second.url, other)).toBe(200);
    const { body } = await caller(first.url, other)('GET', '/v1/auth/sessions');
    const admin = caller(first.url, await first.itsm('admin@acme.test'));
    await admin('POST', `/v1/users/${body.data[0].userId}/sessions/revoke`);
    await soon(async () => (await statusAt(second.url, other)) === 401);
  });
});

describe('rotation of the signing keys', () => {
  it('makes one new key however many nodes look, which both sign with; the old one verifies on both', async () => {
    const old = await first.itsm('user@acme.test');
    const oldPlatform = await first.platform('demo-viewer');
    expect(await rotateDueKeys(first.services, DAY_MS)).toEqual([]);
    const nodes = Array.from({ length: 10 }, (_, index) => (index % 2 ? first : second).services);
    const later = () => new Date(Date.now() + 31 * DAY_MS);
    const before = await published(first.url);
    const made = await Promise.all(
      nodes.map((services, index) =>
        // One of them finds the keys due; those that come later see its key, made 31 days from now.
        rotateDueKeys({ ...services, now: later }, (30 + index / 1_000) * DAY_MS),
      ),
    );
    expect(made.flat().toSorted()).toEqual(['itsm', 'oidc']);
    const replacements = await first.database.orm.em.execute(
      `select after->>'purpose' as purpose from audit_entry
        where action = 'signing_key.created' and after->'retired' <> '[]' order by 1`,
    );
    expect(replacements).toEqual([{ purpose: 'itsm' }, { purpose: 'oidc' }]);
    for (const { url } of [first, second])
      await soon(async () => (await published(url)).length === before.length + 1);
    expect(await published(first.url)).toEqual(await published(second.url));

    const fresh = await Promise.all([
      userCredential(first.url, 'user@acme.test'),
      userCredential(second.url, 'user@acme.test'),
    ]);
    expect(new Set(fresh.map(kidOf)).size).toBe(1);
    expect(before).not.toContain(kidOf(fresh[0]));
    for (const url of [first.url, second.url])
      for (const token of [old, ...fresh]) expect(await statusAt(url, token)).toBe(200);

    await soon(async () => kidOf(await clientCredential(second.url, 'demo-viewer')) !== kidOf(oldPlatform));
    const freshPlatform = await clientCredential(first.url, 'demo-viewer');
    for (const url of [first.url, second.url])
      for (const token of [oldPlatform, freshPlatform])
        expect(await statusAt(url, token, '/api/v1/pipelines')).toBe(200);
  });
});
