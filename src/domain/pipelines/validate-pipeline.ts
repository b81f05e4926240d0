import { LockMode } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { transactional } from '../../events/transaction.js';
import { findInWorkspace, readInWorkspace } from '../workspace-resource.js';
import { advance } from './lifecycle.js';
import { type DefinitionReport, requireValid, validateDefinition } from './validate-definition.js';

export interface PipelineReport extends DefinitionReport, Pick<Pipeline, 'version' | 'lifecycleStage'> {}

/**
 * A draft that validates is VALIDATED from now on; at a later stage nothing moves.
 * @throws NOT_FOUND, AUTHORIZATION_ERROR, VALIDATION_ERROR with every fault of the definition
 */
export async function validatePipeline(context: RequestContext, id: string): Promise<PipelineReport> {
  const judged = await readInWorkspace(context, Pipeline, id);
  const report = await validateDefinition(context, judged);
  requireValid(report);
  const { version } = judged;
  return transactional(context, async ({ em }) => {
    const pipeline = await findInWorkspace(context, Pipeline, id, {
      em,
      lockMode: LockMode.PESSIMISTIC_WRITE,
    });
    // A definition that was written meanwhile has not been judged.
    if (pipeline.version === version) advance(pipeline, 'validation');
    return { ...report, version, lifecycleStage: pipeline.lifecycleStage };
  });
}
