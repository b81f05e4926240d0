import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { verifyAuditChain } from '../../src/domain/audit/index.js';
import { DEMO_PASSWORD, login, seedDemo, sweepExpired } from '../../src/domain/identity/index.js';
import { AuditEntry } from '../../src/entities/audit/audit-entry.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startNode, type TestNode } from './node.js';

let database: TestDatabase;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  other = await startNode(database.url);
  await seedDemo(node.services);
});
beforeEach(() => database.orm.em.execute('delete from login_guard'));
afterEach(() => {
  node.clock.offsetMs = 0;
  other.clock.offsetMs = 0;
});
afterAll(async () => {
  await other.close();
  await node.close();
  await database.close();
});

type Code = { code: string; details: { retryAfter?: number } | null; message: string };

async function attempt(email: string, password: string, on = node): Promise<Code | 'in'> {
  return login(on.anonymous(), { email, password }).then(
    () => 'in' as const,
    (error: Code) => error,
  );
}
const codeOf = (answer: Code | 'in') => (answer === 'in' ? answer : answer.code);
const times = async <T>(count: number, work: (n: number) => Promise<T>) => {
  const results: T[] = [];
  for (let n = 0; n < count; n += 1) results.push(await work(n));
  return results;
};

const KNOWN = 'agent@acme.test';
const UNKNOWN = 'nobody@nowhere.test';

describe.each([KNOWN, UNKNOWN])('five wrong passwords for %s', (email) => {
  it('are each 401, then everything is 403 with the seconds left, on every node, for 15 minutes', async () => {
    const first = await times(5, (n) => attempt(email, `wrong ${n}`, n % 2 === 0 ? node : other));
    expect(first.map(codeOf)).toEqual(Array(5).fill('AUTHENTICATION_ERROR'));
    for (const on of [node, other]) {
      const answer = await attempt(email, DEMO_PASSWORD, on);
      expect(answer).toMatchObject({ code: 'ACCOUNT_LOCKED' });
      const { retryAfter = 0 } = (answer as Code).details ?? {};
      expect(retryAfter).toBeGreaterThan(890);
      expect(retryAfter).toBeLessThanOrEqual(900);
    }
    node.clock.offsetMs = 15 * 60_000;
    const expected = email === KNOWN ? 'in' : 'AUTHENTICATION_ERROR';
    expect(codeOf(await attempt(email.toUpperCase(), DEMO_PASSWORD))).toBe(expected);
  });

  it('are no more than five when 100 are sent at once to two nodes', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => attempt(email, `wrong ${n}`, n % 2 === 0 ? node : other)),
    );
    const count = (code: string) => answers.filter((answer) => codeOf(answer) === code).length;
    expect(count('AUTHENTICATION_ERROR')).toBe(5);
    expect(count('ACCOUNT_LOCKED')).toBe(95);
  });
});

it('answers a locked stranger as it answers a locked user', async () => {
  const [known, unknown] = await Promise.all(
    [KNOWN, UNKNOWN].map(async (email) => {
      await times(5, () => attempt(email, 'wrong'));
      return (await attempt(email, 'wrong')) as Code;
    }),
  );
  expect(known?.message).toBe(unknown?.message);
  expect(Object.keys(known?.details ?? {})).toEqual(Object.keys(unknown?.details ?? {}));
});

it('lets the right password in among wrong ones as long as there were not five, and starts counting anew', async () => {
  await times(4, () => attempt(KNOWN, 'wrong'));
  expect(await attempt(KNOWN, DEMO_PASSWORD)).toBe('in');
  await times(4, () => attempt(KNOWN, 'wrong'));
  expect(await attempt(KNOWN, DEMO_PASSWORD)).toBe('in');
});

it('lets everybody with the right password in, however many come at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => attempt(KNOWN, DEMO_PASSWORD, n % 2 === 0 ? node : other)),
  );
  expect(new Set(answers.map(codeOf))).toEqual(new Set(['in']));
});

it('of one right and many wrong at once either lets the right one in or locks it out, and tries five wrong at most', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => attempt(KNOWN, n === 20 ? DEMO_PASSWORD : 'wrong')),
  );
  // The right one may come first and forget the wrong ones before it: at most four can have been before.
  expect(answers.filter((answer) => codeOf(answer) === 'AUTHENTICATION_ERROR').length).toBeLessThanOrEqual(9);
  expect(['in', 'ACCOUNT_LOCKED']).toContain(codeOf(answers[20] ?? 'in'));
});

it('keeps no address in the table, nothing of who logs in without failing, and nothing after it is over', async () => {
  await attempt(KNOWN, DEMO_PASSWORD);
  const rows = () => database.orm.em.execute<{ account_key: string }[]>('select * from login_guard');
  expect(await rows()).toEqual([]);
  await attempt(UNKNOWN, 'wrong');
  expect(JSON.stringify(await rows())).not.toContain('nobody');
  node.clock.offsetMs = 31 * 60_000;
  await sweepExpired(node.services, new AbortController().signal);
  expect(await rows()).toEqual([]);
});

it('writes every attempt down, of strangers without their address', async () => {
  const em = database.orm.em.fork();
  const since = new Date();
  for (const email of [KNOWN, UNKNOWN]) await times(6, () => attempt(email, 'wrong'));
  const entries = await em.find(
    AuditEntry,
    { occurredAt: { $gte: since } },
    { filters: false, orderBy: { organizationId: 'asc', position: 'asc' } },
  );
  const sequence = [...Array(5).fill('auth.login_failed'), 'auth.account_locked', 'auth.login_refused'];
  const ofStranger = entries.filter(({ organizationId }) => organizationId === 'installation');
  const ofUser = entries.filter(({ organizationId }) => organizationId !== 'installation');
  expect(ofUser.map(({ action }) => action)).toEqual(sequence);
  expect(ofStranger.map(({ action }) => action)).toEqual(sequence);
  expect(ofUser[0]).toMatchObject({ resourceType: 'user', actorType: 'anonymous', requestId: 'req_test' });
  expect(JSON.stringify(ofStranger)).not.toContain('nobody');
  expect(await verifyAuditChain(em, null)).toMatchObject({ intact: true });
  expect(await verifyAuditChain(em, ofUser[0]?.organizationId ?? '')).toMatchObject({ intact: true });
});
