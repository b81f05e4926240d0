import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Pool } from 'pg';
import type { Services } from '../../context.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import { nativePool } from '../../database/native-pool.js';
import { forgetGoneFiles } from '../../engines/file-owners.js';
import { fileOwnersDirectory } from '../connections/index.js';

const DAY_MS = 24 * 3_600_000;
/** Runs per statement; their messages, of which there may be 10,000 each, go before them in steps of their own. */
const BATCH = 100;

/** The newest run of a pipeline stays however old it is: it says how the pipeline stands. */
const OLD = `
select "id" from "run" as old
where "finished_at" < $1 and exists (
  select from "run" as newer where newer."pipeline_id" = old."pipeline_id"
    and (newer."created_at", newer."id") > (old."created_at", old."id"))
order by "finished_at" limit ${BATCH}`;

const FORGET = `
with told as (delete from "lineage_event" where "run_id" = any ($1)),
  tasks as (delete from "run_task" where "run_id" = any ($1)),
  retries as (update "run" set "retry_of" = null where "retry_of" = any ($1) and "id" <> all ($1))
delete from "run" where "id" = any ($1)`;

/** Forgets runs that ended more than RUN_RETENTION_DAYS ago, with all that was told of them; returns how many. */
export async function sweepRunHistory(
  { orm, now, config }: Pick<Services, 'orm' | 'now' | 'config'>,
  signal: AbortSignal,
): Promise<number> {
  const em = orm.em.fork();
  const pool = await nativePool(orm);
  const before = new Date(now().getTime() - config.runRetentionDays * DAY_MS);
  let total = 0;
  let found = BATCH;
  while (found === BATCH && !signal.aborted) {
    const ids = (await pool.query<{ id: string }>(OLD, [before])).rows.map(({ id }) => id);
    found = ids.length;
    if (found === 0) break;
    const messages = { table: 'run_message', condition: '"run_id" in (?)', parameters: [ids] };
    await deleteInBatches(em, messages, signal);
    if (signal.aborted) break;
    await pool.query(FORGET, [ids]);
    total += found;
  }
  await removeQuarantines(pool, path.join(config.dataDir, 'files', 'quarantine'));
  await forgetGoneFiles(fileOwnersDirectory(config), now());
  return total;
}

/** Rows that were set aside are kept as long as their run, or a retry of it. */
async function removeQuarantines(pool: Pool, directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  if (names.length === 0) return;
  const { rows } = await pool.query<{ id: string }>(
    `select coalesce("first_run_id", "id")::text as id from "run"
     where "id"::text = any ($1) or "first_run_id"::text = any ($1)`,
    [names],
  );
  const needed = new Set(rows.map(({ id }) => id));
  const left = names.filter((name) => !needed.has(name));
  await Promise.all(left.map((name) => rm(path.join(directory, name), { recursive: true, force: true })));
}
