import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Services } from '../../context.js';
import { nativePool } from '../../database/native-pool.js';
import { EXECUTE_RUN } from './run-jobs.js';

const BATCH = 200;

/** Young runs are still on their way through the queue. */
const WAITING = `
SELECT "id" FROM "run"
WHERE "state" IN ('QUEUED', 'RUNNING', 'HEALING')
  AND ("lease_until" < now() OR ("lease_until" IS NULL AND "created_at" < now() - interval '5 seconds'))
ORDER BY "created_at" LIMIT ${BATCH}`;

/** Enqueues what no worker holds: runs whose job was lost, and runs whose worker died. */
export async function sweepRuns(services: Services): Promise<void> {
  const pool = await nativePool(services.orm);
  const { rows } = await pool.query<{ id: string }>(WAITING);
  for (const { id } of rows) await services.jobs.enqueue(EXECUTE_RUN, { runId: id });
  await removeLeftDirectories(services);
}

/** Directories of runs that ended or were deleted while their worker could not clean up. */
async function removeLeftDirectories(services: Services): Promise<void> {
  const directory = path.join(services.config.dataDir, 'runs');
  const names = await readdir(directory).catch(() => []);
  if (names.length === 0) return;
  const pool = await nativePool(services.orm);
  const { rows } = await pool.query<{ id: string }>(
    `SELECT "id" FROM "run" WHERE "id"::text = ANY($1) AND "state" IN ('QUEUED', 'RUNNING', 'HEALING')`,
    [names],
  );
  const needed = new Set(rows.map((row) => row.id));
  const left = names.filter((name) => !needed.has(name));
  await Promise.all(left.map((name) => rm(path.join(directory, name), { recursive: true, force: true })));
}
