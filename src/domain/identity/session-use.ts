import type { Services } from '../../context.js';
import { WRITTEN_EVERY_MS } from './last-use.js';
import { REFRESH_TOKEN_SECONDS } from './token-lifetimes.js';

/**
 * Sliding expiration: a session that is used lives on, unless its user is a super_admin. What another node is writing
 * is skipped: it writes the same.
 */
export async function extendSessions(
  { orm, now }: Pick<Services, 'orm' | 'now'>,
  ids: readonly string[],
): Promise<void> {
  const at = now();
  const expiresAt = new Date(at.getTime() + REFRESH_TOKEN_SECONDS * 1_000);
  const writtenBefore = new Date(at.getTime() - WRITTEN_EVERY_MS);
  await orm.em.fork().execute(
    `update session set last_used_at = ?,
       expires_at = case when sliding_expiration then greatest(expires_at, ?) else expires_at end
     where id in (
       select id from session
       where id in (select jsonb_array_elements_text(?::jsonb)) and revoked_at is null and expires_at > ?
         and (last_used_at is null or last_used_at <= ?)
       for update skip locked
     )`,
    [at, expiresAt, JSON.stringify(ids), at, writtenBefore],
    'run',
  );
}
