import type { RequiredEntityData } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { insertRows } from '../../database/insert-rows.js';
import { newUuid } from '../../entities/ids.js';
import { Run } from '../../entities/runs/run.js';
import { RunMessage } from '../../entities/runs/run-message.js';
import { RunTask } from '../../entities/runs/run-task.js';
import { unavailable } from '../../errors.js';
import { runTopic } from '../../events/run-topics.js';
import type { Unit } from '../../events/transaction.js';
import { EXECUTE_RUN } from './run-jobs.js';
import { runStatus } from './run-status.js';

/** What a task of a run begins with, besides its place. */
export type NewTask = Omit<RequiredEntityData<RunTask>, 'runId' | 'position'>;

/**
 * Writes a run and its tasks, in topological order; a worker takes it up as soon as it has a place.
 * @throws SERVICE_UNAVAILABLE when nothing could start it
 */
export async function writeRun(
  { services, log }: RequestContext,
  { em, wakeAfterCommit, afterCommit }: Unit,
  fields: Omit<RequiredEntityData<Run>, 'id' | 'lastSeq' | 'createdAt' | 'taskCount'>,
  tasks: readonly NewTask[],
): Promise<Run> {
  if (!services.jobs.healthy()) throw unavailable('job queue', 5);
  const now = services.now();
  const own = { id: newUuid(), taskCount: tasks.length, lastSeq: 1, createdAt: now };
  const run = Object.assign(new Run(), fields, own);
  const body = { status: runStatus(run.state) };
  const message = { runId: run.id, seq: 1, type: 'run', body, timestamp: now } as const;
  const rows = tasks.map((task, position) => Object.assign(new RunTask(), task, { runId: run.id, position }));
  await insertRows(em, [Run, [run]], [RunMessage, [message]], [RunTask, rows]);
  wakeAfterCommit(runTopic(run.id));
  afterCommit(() =>
    services.jobs.enqueue(EXECUTE_RUN, {}).catch((error: unknown) => {
      log.warn({ err: error, runId: run.id }, 'run not enqueued; the next sweep starts it');
    }),
  );
  return run;
}
