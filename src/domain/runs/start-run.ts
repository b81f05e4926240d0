import { LockMode } from '@mikro-orm/core';
import { platformCaller, type RequestContext } from '../../context.js';
import { newUuid } from '../../entities/ids.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { Run } from '../../entities/runs/run.js';
import { RunMessage } from '../../entities/runs/run-message.js';
import { RunTask } from '../../entities/runs/run-task.js';
import { unavailable } from '../../errors.js';
import { runTopic } from '../../events/run-topics.js';
import { transactional } from '../../events/transaction.js';
import { checkParameters, compileDefinition, requireRunnable } from '../pipelines/index.js';
import { findInWorkspace } from '../workspace-resource.js';
import { EXECUTE_RUN } from './run-jobs.js';
import { runStatus } from './run-status.js';

export interface StartRun {
  /** Counts for this run alone. */
  yamlDefinition?: string | null;
  triggeredBy?: string | null;
  /** Of the definition's declared parameters, by id. */
  parameters?: Record<string, unknown> | null;
}

/**
 * Writes the run and its tasks; a worker takes it up as soon as it can.
 * @throws NOT_FOUND, CONFLICT for a RETIRED pipeline, VALIDATION_ERROR with every fault of the definition, or naming
 * `parameters.<id>`, SERVICE_UNAVAILABLE when nothing could start it
 */
export async function startRun(context: RequestContext, pipelineId: string, input: StartRun): Promise<Run> {
  const { services, log } = context;
  const caller = platformCaller(context);
  const run = await transactional(context, async ({ em, wakeAfterCommit, afterCommit }) => {
    const pipeline = await findInWorkspace(context, Pipeline, pipelineId, {
      em,
      lockMode: LockMode.PESSIMISTIC_READ,
    });
    requireRunnable(pipeline);
    const yamlDefinition = input.yamlDefinition ?? pipeline.yamlDefinition;
    const { definition, graph } = compileDefinition(yamlDefinition);
    const parameters = checkParameters(definition, input.parameters ?? {});
    if (!services.jobs.healthy()) throw unavailable('job queue', 5);
    const now = services.now();
    const created = em.create(Run, {
      id: newUuid(),
      organizationId: pipeline.organizationId,
      workspaceId: pipeline.workspaceId,
      pipelineId,
      pipelineVersion: pipeline.version,
      yamlDefinition,
      parameters,
      engine: graph.engine,
      taskCount: graph.tasks.length,
      triggeredBy: input.triggeredBy ?? caller.subject,
      lastSeq: 1,
      createdAt: now,
    });
    // Its tasks and messages are let in by the run they belong to, which must be there first (src/entities/row-security.ts).
    await em.flush();
    for (const [position, task] of graph.tasks.entries()) {
      em.create(RunTask, { runId: created.id, taskId: task.id, position });
    }
    em.create(RunMessage, {
      runId: created.id,
      seq: 1,
      type: 'run',
      body: { status: runStatus(created.state) },
      timestamp: now,
    });
    wakeAfterCommit(runTopic(created.id));
    afterCommit(() =>
      services.jobs.enqueue(EXECUTE_RUN, { runId: created.id }).catch((error: unknown) => {
        log.warn({ err: error, runId: created.id }, 'run not enqueued; the next sweep starts it');
      }),
    );
    return created;
  });
  return run;
}
