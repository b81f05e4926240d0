import { access, link, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '../../config.js';
import { nativeTypes } from '../../database/native-pool.js';
import type { TaskSpec } from '../../engines/task-spec.js';
import type { RunTaskStatus } from '../../entities/runs/run-enums.js';
import type { ClaimedRun } from './claim-run.js';
import type { RunUnit } from './run-units.js';

/** How far earlier workers, or the run that this one retries, have come with a task. */
export interface TaskSoFar {
  taskId: string;
  status: RunTaskStatus;
  attempt: number;
  failures: number;
  error: string | null;
  rows: number | null;
  watermark: string | null;
}

export type Progress = ReadonlyMap<string, TaskSoFar>;

export async function readProgress(pool: Pool, runId: string): Promise<Progress> {
  const { rows } = await pool.query<TaskSoFar>({
    text: `SELECT "task_id" AS "taskId", "status", "attempt", "failures", "error", "rows", "watermark"
      FROM "run_task" WHERE "run_id" = $1`,
    values: [runId],
    types: nativeTypes,
  });
  return new Map(
    rows.map((row) => [row.taskId, { ...row, rows: row.rows === null ? null : Number(row.rows) }]),
  );
}

export function runDirectory({ dataDir }: Pick<Config, 'dataDir'>, runId: string): string {
  return path.join(dataDir, 'runs', runId);
}

/** Lets a retry read what the run that it retries has left; where nothing is left it is computed again. */
export async function adoptResults(
  config: Pick<Config, 'dataDir'>,
  { id, retryOf }: Pick<ClaimedRun, 'id' | 'retryOf'>,
  progress: Progress,
): Promise<void> {
  if (retryOf === null) return;
  const directory = runDirectory(config, id);
  await mkdir(directory, { recursive: true });
  for (const { taskId, status } of progress.values()) {
    if (status !== 'SUCCESS') continue;
    const name = resultName(taskId);
    await link(path.join(runDirectory(config, retryOf), name), path.join(directory, name)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
      },
    );
  }
}

/**
 * A finished unit counts when what it produced is still here, for another machine's disk is not ours, or when nothing
 * waits for it any more.
 */
export async function finishedUnits(
  directory: string,
  units: readonly RunUnit[],
  progress: Progress,
): Promise<Set<string>> {
  const succeeded = units.filter(({ id }) => progress.get(id)?.status === 'SUCCESS');
  const done = new Set<string>();
  for (const { id, task } of succeeded) {
    if (task.spec.kind === 'target' || (await isThere(path.join(directory, resultName(id))))) done.add(id);
  }
  for (const { id, members } of succeeded.toReversed()) {
    const own = new Set(members.map((member) => member.id));
    const readers = units.filter(({ waitsFor }) => waitsFor.some((needed) => own.has(needed)));
    if (readers.length > 0 && readers.every((reader) => done.has(reader.id))) done.add(id);
  }
  return done;
}

/**
 * Where a source that was read before in this run must stop now, since targets may have what it gave then: the last
 * watermark, or null when it gave nothing. Undefined for one that may read all there is.
 */
export function readUntil(
  { spec }: { spec: TaskSpec },
  soFar: TaskSoFar | undefined,
): string | null | undefined {
  if (soFar?.status !== 'SUCCESS' || !('incremental' in spec) || spec.incremental === undefined)
    return undefined;
  return soFar.watermark;
}

const resultName = (taskId: string): string => `${taskId}.parquet`;

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
