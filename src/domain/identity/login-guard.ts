import { createHmac, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../context.js';
import { type AttemptState, LoginGuard } from '../../entities/identity/login-guard.js';
import { AppError, unavailable } from '../../errors.js';
import { admit, MAX_FAILURES, NO_ATTEMPTS, type Outcome, settle } from './attempt-limit.js';
import { inTurn } from './in-turn.js';

export type GuardServices = Pick<Services, 'orm' | 'now' | 'secrets'>;

/** How often another node's decision is asked for, and for how long: longer than an attempt stays undecided. */
const POLL_MS = 25;
const MAX_POLLS = 600;

/** The same for every spelling of an address; of one that nobody has, too. */
export function accountKeyOf({ secrets }: Pick<Services, 'secrets'>, email: string): string {
  return createHmac('sha256', secrets.deriveKey('login guard'))
    .update(normalEmail(email))
    .digest('base64url');
}

export function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * Counts an attempt before it is made and its outcome afterwards, in PostgreSQL, so that all nodes agree
 * (attempt-limit.ts has the rules). The check runs outside of any transaction; one that throws decided nothing.
 * @returns what the check found, and whether the account is locked from now on
 * @throws ACCOUNT_LOCKED with details.retryAfter in seconds
 */
export async function guarded<T>(
  services: GuardServices,
  email: string,
  check: () => Promise<{ outcome: Outcome; value: T }>,
): Promise<{ value: T; locked: boolean }> {
  const accountKey = accountKeyOf(services, email);
  return inTurn(services.orm, accountKey, MAX_FAILURES, async () => {
    const id = await admitted(services, accountKey);
    const decide = (outcome: Outcome) =>
      change(services, accountKey, (before, now) => ({ state: settle(before, id, outcome, now) }));
    const { outcome, value } = await check().catch(async (error: unknown) => {
      // With the database away it stays undecided by itself.
      await decide('undecided').catch(() => undefined);
      throw error;
    });
    const { state } = await decide(outcome);
    return { value, locked: state.lockedUntil !== null };
  });
}

/** Forgets every failure, and the lock they led to. */
export async function forgetFailures(
  em: EntityManager,
  services: Pick<Services, 'secrets'>,
  email: string,
): Promise<void> {
  await em.nativeDelete(LoginGuard, { accountKey: accountKeyOf(services, email) });
}

/** The id of the attempt. @throws ACCOUNT_LOCKED */
async function admitted(services: GuardServices, accountKey: string): Promise<string> {
  const id = randomUUID();
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    const { admission, state, now } = await change(services, accountKey, (before, at) => ({
      ...admit(before, { id, at }),
      now: at,
    }));
    if (admission === 'admitted') return id;
    if (state.lockedUntil !== null) throw lockedUntil(state.lockedUntil, now);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw unavailable('login', 1);
}

function lockedUntil(until: number, now: number): AppError {
  return new AppError('ACCOUNT_LOCKED', 'The account is locked after too many failed logins', {
    details: { retryAfter: Math.ceil((until - now) / 1_000) },
  });
}

/** One change at a time per account: the row is made or locked, then written. */
async function change<T extends { state: AttemptState }>(
  { orm, now }: GuardServices,
  accountKey: string,
  decide: (before: AttemptState, now: number) => T,
): Promise<T> {
  return orm.em.fork().transactional(async (em) => {
    const at = now();
    const [row] = await em.execute<{ state: AttemptState }[]>(
      `insert into login_guard (account_key, state, updated_at) values (?, ?::jsonb, ?)
       on conflict (account_key) do update set updated_at = excluded.updated_at returning state`,
      [accountKey, JSON.stringify(NO_ATTEMPTS), at],
    );
    const decided = decide(row?.state ?? NO_ATTEMPTS, at.getTime());
    await write(em, accountKey, decided.state);
    return decided;
  });
}

/** Nothing to count leaves no row: the table holds who failed lately, not who exists. */
async function write(em: EntityManager, accountKey: string, state: AttemptState): Promise<void> {
  const { failures, pending, lockedUntil } = state;
  if (failures.length + pending.length === 0 && lockedUntil === null)
    await em.execute('delete from login_guard where account_key = ?', [accountKey]);
  else
    await em.execute('update login_guard set state = ?::jsonb where account_key = ?', [
      JSON.stringify(state),
      accountKey,
    ]);
}
