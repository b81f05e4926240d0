import type { Services } from '../../context.js';
import { type CompiledDefinition, compileDefinition } from '../pipelines/index.js';
import type { ClaimedRun } from './claim-run.js';

type BoundRun = Pick<
  ClaimedRun,
  'id' | 'logicalTime' | 'parameters' | 'pipelineName' | 'startedAt' | 'workspaceSlug' | 'yamlDefinition'
>;

/** Schedules use this zone unless another is given (platform document, What the service does). */
const ZONE = 'Europe/Warsaw';
const dateOf = new Intl.DateTimeFormat('en-CA', { timeZone: ZONE });

/** The definition of a run with nothing left to fill in. @throws VALIDATION_ERROR */
export function bindRun({ config }: Pick<Services, 'config'>, run: BoundRun): CompiledDefinition {
  return compileDefinition(run.yamlDefinition, {
    params: run.parameters,
    builtIns: {
      'run.id': run.id,
      'run.startedAt': run.startedAt.toISOString(),
      'schedule.date': dateOf.format(run.logicalTime),
      'pipeline.name': run.pipelineName,
      'workspace.slug': run.workspaceSlug,
    },
    env: config.pipelineEnv,
  });
}
