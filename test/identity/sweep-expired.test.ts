import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createSigningKeys,
  DEMO_PASSWORD,
  refresh,
  seedDemo,
  sweepExpired,
} from '../../src/domain/identity/index.js';
import { artifactStore } from '../../src/oidc/artifact-store.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { loggedIn } from './logged-in.js';
import { startNode, type TestNode } from './node.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let database: TestDatabase;
let node: TestNode;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  await seedDemo(node.services);
});

afterAll(async () => {
  await node.close();
  await database.close();
});

async function sweepAt(offsetMs: number): Promise<number> {
  node.clock.offsetMs = offsetMs;
  return sweepExpired(node.services, new AbortController().signal);
}

async function count(table: string): Promise<number> {
  const [row] = await database.orm.em.execute<{ count: string }[]>(`select count(*) from "${table}"`);
  return Number(row?.count);
}

describe('the sweep', () => {
  it('deletes what has expired, however much it is, and leaves what is still good', async () => {
    const { refreshToken } = await loggedIn(node.anonymous(), {
      email: 'user@acme.test',
      password: DEMO_PASSWORD,
    });
    const codes = artifactStore(node.services, 'AuthorizationCode');
    await codes.upsert('short', { jti: 'short' }, 60);
    await codes.upsert('long', { jti: 'long' }, 30 * 24 * 3_600);
    await database.orm.em.execute(
      `insert into refresh_token (hash, organization_id, session_id, created_at, expires_at)
       select 'old ' || n, 'org', 'ses', now() - interval '8 days', now() - interval '1 day' from generate_series(1, 2500) n`,
    );

    expect(await sweepAt(HOUR_MS)).toBe(2_501);
    expect(await codes.find('short')).toBeUndefined();
    expect(await codes.find('long')).toEqual({ jti: 'long' });
    node.clock.offsetMs = 0;
    await expect(refresh(node.anonymous(), refreshToken)).resolves.toBeDefined();

    await sweepAt(9 * DAY_MS);
    expect(await count('refresh_token')).toBe(0);
    expect(await count('session')).toBe(0);
    node.clock.offsetMs = 0;
  });

  it('keeps a retired signing key while a token of it may live, and the current one for ever', async () => {
    const keys = createSigningKeys(node.services, 'itsm');
    await keys.current();
    await keys.rotate();
    expect(await count('signing_key')).toBe(2);
    await sweepAt(7.5 * DAY_MS);
    expect(await count('signing_key')).toBe(2);
    await sweepAt(400 * DAY_MS);
    expect(await count('signing_key')).toBe(1);
    await keys.close();
  });
});
