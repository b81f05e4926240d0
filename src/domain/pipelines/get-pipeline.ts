import type { RequestContext } from '../../context.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { readInWorkspace } from '../workspace-resource.js';

/** @throws NOT_FOUND, AUTHORIZATION_ERROR */
export function getPipeline(context: RequestContext, id: string): Promise<Pipeline> {
  return readInWorkspace(context, Pipeline, id);
}
