import { LockMode } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { transactional } from '../../events/transaction.js';
import { findInWorkspace } from '../workspace-resource.js';
import { advance, type LifecycleMove, requireMove } from './lifecycle.js';

/** @throws NOT_FOUND, AUTHORIZATION_ERROR, CONFLICT when the pipeline is at another stage than the move starts from */
export function movePipeline(
  context: RequestContext,
  id: string,
  move: Extract<LifecycleMove, 'deprecation' | 'retirement'>,
): Promise<Pipeline> {
  return transactional(context, async ({ em }) => {
    const pipeline = await findInWorkspace(context, Pipeline, id, {
      em,
      lockMode: LockMode.PESSIMISTIC_WRITE,
    });
    requireMove(pipeline, move);
    advance(pipeline, move);
    pipeline.updatedAt = context.services.now();
    return pipeline;
  });
}
