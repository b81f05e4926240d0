import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../context.js';
import { Run } from '../../entities/runs/run.js';
import { RunMessage } from '../../entities/runs/run-message.js';
import { RunTask } from '../../entities/runs/run-task.js';
import { conflict } from '../../errors.js';
import { runCancelTopic, runTopic } from '../../events/run-topics.js';
import { transactional } from '../../events/transaction.js';
import { findInWorkspace } from '../workspace-resource.js';
import { isNewestRun } from './newest-run.js';
import { EXECUTE_RUN } from './run-jobs.js';
import type { NewRunMessage } from './run-message-body.js';
import { isFinal, isTaskFinished, runStatus } from './run-status.js';

/** Of the 5 s from the call to CANCELLED (completion, Runs), what the run's worker gets before it is overruled. */
const WORKER_MS = 4_000;

const MIRROR = `
UPDATE "pipeline" SET "status" = 'CANCELLED' FROM "run"
WHERE "run"."id" = ? AND "pipeline"."id" = "run"."pipeline_id" AND ${isNewestRun('"run"')}`;

export interface CancelledRun {
  runId: string;
  status: 'CANCELLED';
  message: string;
}

/** Returns when the run is CANCELLED. Repeating it is no error. @throws NOT_FOUND, CONFLICT for a run that has ended */
export async function cancelRun(context: RequestContext, runId: string): Promise<CancelledRun> {
  const settled = await requestCancel(context, runId, false);
  if (settled) return settled;
  await workerLetsGo(context, runId);
  const outcome = await requestCancel(context, runId, true);
  if (!outcome) throw new Error('a cancel that overrules the worker leaves nothing to wait for');
  return outcome;
}

/** Undefined when a worker holds the run and was asked to stop it. */
function requestCancel(
  context: RequestContext,
  runId: string,
  overrule: boolean,
): Promise<CancelledRun | undefined> {
  return transactional(context, async ({ em, wakeAfterCommit, afterCommit }) => {
    const run = await findInWorkspace(context, Run, runId, { em, lockMode: LockMode.PESSIMISTIC_WRITE });
    if (run.state === 'CANCELLED') return { runId, status: 'CANCELLED', message: 'The run is cancelled' };
    if (isFinal(run.state)) {
      throw conflict('The run has already ended', {
        currentStatus: runStatus(run.state),
        requestedStatus: 'CANCELLED',
      });
    }
    const now = context.services.now();
    const held = run.leaseUntil !== null && run.leaseUntil > now;
    if (held && !overrule) {
      run.cancelRequestedAt ??= now;
      wakeAfterCommit(runCancelTopic(runId));
      return undefined;
    }
    await endAsCancelled(em, run, now);
    wakeAfterCommit(runTopic(runId));
    wakeAfterCommit(runCancelTopic(runId));
    if (run.startedAt) afterCommit(() => tellNext(context));
    return { runId, status: 'CANCELLED', message: 'The run was cancelled' };
  });
}

/** Its place is free for a run that waits; the sweep finds that one as well. */
async function tellNext({ services, log }: RequestContext): Promise<void> {
  await services.jobs.enqueue(EXECUTE_RUN, {}).catch((error: unknown) => {
    log.warn({ err: error }, 'the next run not started yet');
  });
}

/** Takes the lease away as well: a worker that comes back late finds it cannot write any more. */
async function endAsCancelled(em: EntityManager, run: Run, now: Date): Promise<void> {
  const tasks = await em.find(RunTask, { runId: run.id }, { orderBy: { position: 'asc' } });
  const stopped = tasks.filter((task) => !isTaskFinished(task.status));
  for (const task of stopped) em.assign(task, { status: 'CANCELLED', finishedAt: now });
  const messages: NewRunMessage[] = [
    ...stopped.map(({ taskId, attempt }) => ({
      type: 'task' as const,
      body: { taskId, status: 'CANCELLED' as const, attempt },
    })),
    { type: 'run', body: { status: 'CANCELLED' } },
  ];
  for (const [index, { type, body }] of messages.entries()) {
    em.create(RunMessage, {
      runId: run.id,
      seq: run.lastSeq + index + 1,
      type,
      body: { ...body },
      timestamp: now,
    });
  }
  em.assign(run, {
    state: 'CANCELLED',
    cancelRequestedAt: run.cancelRequestedAt ?? now,
    finishedAt: now,
    leaseOwner: null,
    leaseUntil: null,
    lastSeq: run.lastSeq + messages.length,
  });
  await em.execute(MIRROR, [run.id]);
}

/** Resolves when the run has ended, or when its worker has had its time. */
async function workerLetsGo({ services, em }: RequestContext, runId: string): Promise<void> {
  const over = AbortSignal.timeout(WORKER_MS);
  while (!over.aborted) {
    const next = Promise.withResolvers<void>();
    const unsubscribe = services.wake.on(runTopic(runId), next.resolve);
    over.addEventListener('abort', () => next.resolve(), { once: true });
    try {
      const run = await em.fork().findOne(Run, { id: runId }, { fields: ['state'] });
      if (!run || isFinal(run.state)) return;
      await next.promise;
    } finally {
      unsubscribe();
    }
  }
}
