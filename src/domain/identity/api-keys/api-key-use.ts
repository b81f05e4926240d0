import type { Services } from '../../../context.js';
import { WRITTEN_EVERY_MS } from '../last-use.js';

/** What another node is writing is skipped: it writes the same. */
export async function writeKeyUse(
  { orm, now }: Pick<Services, 'orm' | 'now'>,
  ids: readonly string[],
): Promise<void> {
  const at = now();
  await orm.em.fork().execute(
    `update api_key set last_used_at = ?
     where id in (
       select id from api_key
       where id in (select jsonb_array_elements_text(?::jsonb)) and (last_used_at is null or last_used_at <= ?)
       for update skip locked
     )`,
    [at, JSON.stringify(ids), new Date(at.getTime() - WRITTEN_EVERY_MS)],
    'run',
  );
}
