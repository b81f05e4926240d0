import type { Services } from '../../context.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import { LOCK_MS, WINDOW_MS } from './attempt-limit.js';
import { REVOCATIONS_REMEMBERED_MS } from './revocations.js';
import { RETIRED_KEYS_VERIFY_MS } from './token-lifetimes.js';

const DAY_MS = 24 * 3_600_000;

/** What is of no use any more, and how long after its time. A session outlives its last access token by far. */
const expiring = [
  { table: 'oidc_artifact', column: 'expires_at', keepMs: 0 },
  { table: 'mfa_challenge', column: 'expires_at', keepMs: 0 },
  { table: 'mfa_setup', column: 'expires_at', keepMs: 0 },
  { table: 'login_guard', column: 'updated_at', keepMs: WINDOW_MS + LOCK_MS },
  { table: 'password_token', column: 'expires_at', keepMs: 0 },
  { table: 'refresh_token', column: 'expires_at', keepMs: 0 },
  { table: 'revoked_token', column: 'revoked_at', keepMs: REVOCATIONS_REMEMBERED_MS },
  { table: 'session', column: 'expires_at', keepMs: DAY_MS },
  // A day longer than its code, so that a code that comes again is known.
  { table: 'sso_login', column: 'expires_at', keepMs: DAY_MS },
  { table: 'signing_key', column: 'retired_at', keepMs: RETIRED_KEYS_VERIFY_MS },
];

/** How many rows went. Safe to run anywhere at any time: nothing that is deleted would still be accepted. */
export async function sweepExpired(
  { orm, now }: Pick<Services, 'orm' | 'now'>,
  signal: AbortSignal,
): Promise<number> {
  const em = orm.em.fork();
  let total = 0;
  for (const { table, column, keepMs } of expiring) {
    const parameters = [new Date(now().getTime() - keepMs)];
    total += await deleteInBatches(em, { table, condition: `"${column}" < ?`, parameters }, signal);
  }
  return total;
}
