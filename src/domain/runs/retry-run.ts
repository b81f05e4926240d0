import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { platformCaller, type RequestContext } from '../../context.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { Run } from '../../entities/runs/run.js';
import { RunTask } from '../../entities/runs/run-task.js';
import { SourceWatermark } from '../../entities/runs/source-watermark.js';
import { conflict } from '../../errors.js';
import { requireRunnable } from '../pipelines/index.js';
import { findInWorkspace } from '../workspace-resource.js';
import { runStatus } from './run-status.js';
import { startInTurn } from './start-in-turn.js';
import { type NewTask, writeRun } from './write-run.js';

/**
 * A new run with the definition and parameters of one that did not succeed, from its failed tasks on: what succeeded
 * is taken over, and what of it is gone meanwhile is computed again.
 * @throws NOT_FOUND, CONFLICT for a run that is under way, has succeeded or was retried before, when a later run has read
 * what its incremental sources were to read, and for a RETIRED pipeline; SERVICE_UNAVAILABLE when nothing could
 * start it or too many wait
 */
export async function retryRun(context: RequestContext, runId: string): Promise<Run> {
  const caller = platformCaller(context);
  return startInTurn(context, async (unit) => {
    const { em } = unit;
    const run = await findInWorkspace(context, Run, runId, { em, lockMode: LockMode.PESSIMISTIC_WRITE });
    const pipeline = await findInWorkspace(context, Pipeline, run.pipelineId, {
      em,
      lockMode: LockMode.PESSIMISTIC_READ,
    });
    requireRunnable(pipeline);
    await requireRetryable(em, run);
    const { organizationId, workspaceId, pipelineId, pipelineVersion, yamlDefinition, engine } = run;
    const { parameters, priority, isExclusive, watermarks, rowsRead, rowsWritten } = run;
    const tasks = await em.find(RunTask, { runId }, { orderBy: { position: 'asc' } });
    return writeRun(
      context,
      unit,
      {
        ...{ organizationId, workspaceId, pipelineId, pipelineVersion, yamlDefinition, engine },
        ...{ parameters, priority, isExclusive, watermarks, rowsRead, rowsWritten },
        retryOf: run.id,
        firstRunId: run.firstRunId ?? run.id,
        logicalTime: run.logicalTime ?? run.startedAt,
        triggeredBy: caller.subject,
      },
      tasks.map(takenOver),
    );
  });
}

async function requireRetryable(em: EntityManager, run: Run): Promise<void> {
  if (run.state !== 'FAILED' && run.state !== 'CANCELLED') {
    throw conflict('Only a run that has failed or was cancelled can be retried', {
      currentStatus: runStatus(run.state),
    });
  }
  const retry = await em.findOne(Run, { retryOf: run.id }, { fields: ['id'] });
  if (retry) throw conflict('The run has been retried already', { retriedBy: retry.id });
  if (run.watermarks === null) return;
  const reached = await em.find(SourceWatermark, { pipelineId: run.pipelineId });
  const now = Object.fromEntries(reached.map(({ taskId, value, source }) => [taskId, { value, source }]));
  if (!isDeepStrictEqual(now, run.watermarks))
    throw conflict('A later run has already read what the incremental sources of this run were to read', {
      pipelineId: run.pipelineId,
    });
}

function takenOver(task: RunTask): NewTask {
  const { taskId, status, attempt, rows, bytes, columns, checks, watermark, startedAt, finishedAt } = task;
  if (status !== 'SUCCESS') return { taskId };
  return { taskId, status, attempt, rows, bytes, columns, checks, watermark, startedAt, finishedAt };
}
