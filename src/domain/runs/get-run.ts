import type { RequestContext } from '../../context.js';
import { Run } from '../../entities/runs/run.js';
import { readInWorkspace } from '../workspace-resource.js';

/** @throws NOT_FOUND, AUTHORIZATION_ERROR */
export function getRun(context: RequestContext, id: string): Promise<Run> {
  return readInWorkspace(context, Run, id);
}
