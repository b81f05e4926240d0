import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Services } from '../../context.js';
import { nativePool } from '../../database/native-pool.js';
import { countClaimable } from './claim-run.js';
import { runDirectory } from './resume-run.js';
import { EXECUTE_RUN } from './run-jobs.js';

const BATCH = 32;

/** Has workers look for runs that none holds: those whose job was lost, and those whose worker died. */
export async function sweepRuns(services: Services): Promise<void> {
  const pool = await nativePool(services.orm);
  const claimable = await countClaimable(pool, services.config, BATCH);
  for (let count = 0; count < claimable; count += 1) await services.jobs.enqueue(EXECUTE_RUN, {});
  await removeLeftDirectories(services);
}

/** Directories of runs that ended or were deleted while their worker could not clean up, or that nobody has retried. */
async function removeLeftDirectories({ orm, config, now }: Services): Promise<void> {
  const names = await readdir(path.join(config.dataDir, 'runs')).catch(() => []);
  if (names.length === 0) return;
  const pool = await nativePool(orm);
  const keepSince = new Date(now().getTime() - config.runRetryKeepHours * 3_600_000);
  const { rows } = await pool.query<{ id: string }>(
    `SELECT "id" FROM "run" WHERE "id"::text = ANY($1) AND ("state" IN ('QUEUED', 'RUNNING', 'HEALING')
       OR ("state" <> 'SUCCESS' AND "finished_at" > $2))`,
    [names, keepSince],
  );
  const needed = new Set(rows.map((row) => row.id));
  const left = names.filter((name) => !needed.has(name));
  await Promise.all(left.map((name) => rm(runDirectory(config, name), { recursive: true, force: true })));
}
