import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createContext, type RequestContext } from '../../src/context.js';
import { DEMO_PASSWORD } from '../../src/domain/identity/demo-tenants.js';
import { type LoggedIn, logout, refresh } from '../../src/domain/identity/index.js';
import { seedDemo } from '../../src/domain/identity/seed-demo.js';
import { User } from '../../src/entities/identity/user.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { loggedIn } from './logged-in.js';
import { startNode, type TestNode } from './node.js';

const MINUTE_MS = 60_000;
const TOKEN_INVALID = { code: 'TOKEN_INVALID' };

let database: TestDatabase;
let node: TestNode;
let other: TestNode;
let pair: LoggedIn;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  other = await startNode(database.url);
  await seedDemo(node.services);
});

beforeEach(async () => {
  node.clock.offsetMs = 0;
  pair = await loggedIn(node.anonymous(), { email: 'manager@acme.test', password: DEMO_PASSWORD });
});

afterAll(async () => {
  await other.close();
  await node.close();
  await database.close();
});

async function callerOf(on: TestNode, accessToken: string): Promise<RequestContext> {
  return createContext(on.services, 'req_test', { itsm: await on.services.itsmTokens.verify(accessToken) });
}

/** Until the other node knows: it is woken, so this is milliseconds; its slow poll alone would take 5 s. */
async function refusedElsewhere(accessToken: string): Promise<void> {
  const deadline = Date.now() + 2_000;
  while (Date.now() < deadline) {
    const verdict = await other.services.itsmTokens
      .verify(accessToken)
      .catch((error: { code: string }) => error);
    if ('code' in verdict) return expect(verdict).toMatchObject(TOKEN_INVALID);
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('The other node still accepts the token');
}

describe('refresh', () => {
  it('gives a new pair without a user, whose tokens work, and whose 7 days begin anew', async () => {
    node.clock.offsetMs = 6 * 24 * 60 * MINUTE_MS;
    const next = await refresh(node.anonymous(), pair.refreshToken);
    expect(Object.keys(next).sort()).toEqual(['accessToken', 'expiresIn', 'refreshToken', 'tokenType']);
    expect(next.refreshToken).not.toBe(pair.refreshToken);
    await expect(node.services.itsmTokens.verify(next.accessToken)).resolves.toMatchObject({
      userId: pair.user.id,
    });
    node.clock.offsetMs = 12 * 24 * 60 * MINUTE_MS;
    await expect(refresh(node.anonymous(), next.refreshToken)).resolves.toBeDefined();
  });

  it('lets exactly one of 100 simultaneous uses win, over two nodes, and the winner keeps its session', async () => {
    const uses = Array.from({ length: 100 }, (_, index) =>
      refresh((index % 2 === 0 ? node : other).anonymous(), pair.refreshToken),
    );
    const outcomes = await Promise.allSettled(uses);
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(TOKEN_INVALID);
    }
    await expect(refresh(node.anonymous(), won[0]?.value.refreshToken ?? '')).resolves.toBeDefined();
  });

  it('ends the whole session when a used token comes again after the grace', async () => {
    const next = await refresh(node.anonymous(), pair.refreshToken);
    node.clock.offsetMs = 11_000;
    await expect(refresh(node.anonymous(), pair.refreshToken)).rejects.toMatchObject(TOKEN_INVALID);
    await expect(node.services.itsmTokens.verify(next.accessToken)).rejects.toMatchObject(TOKEN_INVALID);
    await expect(refresh(node.anonymous(), next.refreshToken)).rejects.toMatchObject(TOKEN_INVALID);
    await refusedElsewhere(next.accessToken);
  });

  it('ends it at once when the grace is 0', async () => {
    const strict = await startNode(database.url, { REFRESH_REUSE_GRACE_SECONDS: '0' });
    const next = await refresh(strict.anonymous(), pair.refreshToken);
    await expect(refresh(strict.anonymous(), pair.refreshToken)).rejects.toMatchObject(TOKEN_INVALID);
    await expect(refresh(strict.anonymous(), next.refreshToken)).rejects.toMatchObject(TOKEN_INVALID);
    await strict.close();
  });

  it('refuses an expired one, an access token, a tampered one and one of a deactivated user', async () => {
    const [header, claims] = pair.refreshToken.split('.');
    for (const bad of [pair.accessToken, `${header}.${claims}.AAAA`, '', 'x.y.z'])
      await expect(refresh(node.anonymous(), bad)).rejects.toMatchObject(TOKEN_INVALID);
    const em = database.orm.em.fork();
    await em.nativeUpdate(User, { id: pair.user.id }, { active: false }, { filters: false });
    await expect(refresh(node.anonymous(), pair.refreshToken)).rejects.toMatchObject(TOKEN_INVALID);
    await em.nativeUpdate(User, { id: pair.user.id }, { active: true }, { filters: false });
    node.clock.offsetMs = 7 * 24 * 60 * MINUTE_MS + 1_000;
    await expect(refresh(node.anonymous(), pair.refreshToken)).rejects.toMatchObject(TOKEN_INVALID);
  });

  it('carries the role as it is now, while the old token keeps the old one', async () => {
    const em = database.orm.em.fork();
    await em.nativeUpdate(User, { id: pair.user.id }, { role: 'end_user' }, { filters: false });
    const next = await refresh(node.anonymous(), pair.refreshToken);
    await em.nativeUpdate(User, { id: pair.user.id }, { role: 'service_desk_manager' }, { filters: false });
    await expect(node.services.itsmTokens.verify(next.accessToken)).resolves.toMatchObject({
      role: 'end_user',
    });
    await expect(node.services.itsmTokens.verify(pair.accessToken)).resolves.toMatchObject({
      role: 'service_desk_manager',
    });
  });
});

describe('logout', () => {
  it('ends every session of the user and nobody else’s, on every node, at once', async () => {
    await logout(await callerOf(node, pair.accessToken));
    const first = await loggedIn(node.anonymous(), { email: 'manager@acme.test', password: DEMO_PASSWORD });
    const second = await loggedIn(other.anonymous(), { email: 'manager@acme.test', password: DEMO_PASSWORD });
    const stranger = await loggedIn(node.anonymous(), {
      email: 'manager@globex.test',
      password: DEMO_PASSWORD,
    });
    await other.services.itsmTokens.verify(second.accessToken);

    expect(await logout(await callerOf(node, first.accessToken))).toEqual({
      revoked: true,
      sessionsTerminated: 2,
      message: expect.any(String),
    });
    await expect(node.services.itsmTokens.verify(second.accessToken)).rejects.toMatchObject(TOKEN_INVALID);
    await refusedElsewhere(second.accessToken);
    await expect(refresh(other.anonymous(), second.refreshToken)).rejects.toMatchObject(TOKEN_INVALID);
    await expect(other.services.itsmTokens.verify(stranger.accessToken)).resolves.toBeDefined();
  });

  it('is known to a node that starts later', async () => {
    await logout(await callerOf(node, pair.accessToken));
    const late = await startNode(database.url);
    await expect(late.services.itsmTokens.verify(pair.accessToken)).rejects.toMatchObject(TOKEN_INVALID);
    await late.close();
  });
});
