import { LockMode } from '@mikro-orm/core';
import { platformCaller, type RequestContext } from '../../context.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import type { Run } from '../../entities/runs/run.js';
import { DEFAULT_PRIORITY, RUN_PRIORITIES, type RunPriority } from '../../entities/runs/run-enums.js';
import {
  checkParameters,
  compileDefinition,
  isFaultless,
  requireFaultless,
  requireRunnable,
} from '../pipelines/index.js';
import { findInWorkspace } from '../workspace-resource.js';
import { expectedEngine } from './expected-engine.js';
import { startInTurn } from './start-in-turn.js';
import { watermarkSources } from './watermarks.js';
import { writeRun } from './write-run.js';

export interface StartRun {
  /** Counts for this run alone. */
  yamlDefinition?: string | null;
  triggeredBy?: string | null;
  /** Of the definition's declared parameters, by id. */
  parameters?: Record<string, unknown> | null;
  /** Of the runs that wait for a place. */
  priority?: RunPriority | null;
}

/**
 * Writes the run and its tasks; a worker takes it up as soon as it has a place.
 * @throws NOT_FOUND, CONFLICT for a RETIRED pipeline, VALIDATION_ERROR with every fault of the definition, or naming
 * `parameters.<id>`, SERVICE_UNAVAILABLE when nothing could start it or too many wait
 */
export async function startRun(context: RequestContext, pipelineId: string, input: StartRun): Promise<Run> {
  let judged: string | undefined;
  for (;;) {
    const started = await startOrName(context, pipelineId, input, judged);
    if (typeof started !== 'string') return started;
    await requireFaultless(context.services, started);
    judged = started;
  }
}

/**
 * The run, or a definition that has to be judged before one begins, which may take longer than a transaction should.
 * @param judged without fault, also where others have since taken its place among those remembered
 */
function startOrName(
  context: RequestContext,
  pipelineId: string,
  input: StartRun,
  judged: string | undefined,
): Promise<Run | string> {
  const caller = platformCaller(context);
  return startInTurn(context, async (unit) => {
    const pipeline = await findInWorkspace(context, Pipeline, pipelineId, {
      em: unit.em,
      lockMode: LockMode.PESSIMISTIC_READ,
    });
    requireRunnable(pipeline);
    const yamlDefinition = input.yamlDefinition ?? pipeline.yamlDefinition;
    if (yamlDefinition !== judged && !isFaultless(yamlDefinition)) return yamlDefinition;
    const compiled = compileDefinition(yamlDefinition);
    const { definition, graph } = compiled;
    const parameters = checkParameters(definition, input.parameters ?? {});
    const { organizationId, workspaceId, version: pipelineVersion } = pipeline;
    return writeRun(
      context,
      unit,
      {
        organizationId,
        workspaceId,
        pipelineId,
        pipelineVersion,
        yamlDefinition,
        parameters,
        engine: await expectedEngine(context, unit.em, pipeline, compiled, { yamlDefinition, parameters }),
        priority: input.priority ? RUN_PRIORITIES.indexOf(input.priority) : DEFAULT_PRIORITY,
        // A definition that counts for one run alone begins where it says, and moves nothing.
        isExclusive:
          yamlDefinition === pipeline.yamlDefinition && Object.keys(watermarkSources(graph)).length > 0,
        triggeredBy: input.triggeredBy ?? caller.subject,
      },
      graph.tasks.map(({ id: taskId }) => ({ taskId })),
    );
  });
}
