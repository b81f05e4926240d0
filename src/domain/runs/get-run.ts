import type { RequestContext } from '../../context.js';
import { Run } from '../../entities/runs/run.js';
import { tasksByRun } from '../../entities/runs/run-task.js';
import { readInWorkspace, readInWorkspaceWith } from '../workspace-resource.js';

/** @throws NOT_FOUND, AUTHORIZATION_ERROR */
export function getRun(context: RequestContext, id: string): Promise<Run> {
  return readInWorkspace(context, Run, id);
}

/**
 * The same where its tasks will be asked for: they come with it and wait in the loader.
 * @throws NOT_FOUND, AUTHORIZATION_ERROR
 */
export async function getRunWithTasks(context: RequestContext, id: string): Promise<Run> {
  const [run, tasks] = await readInWorkspaceWith(context, Run, id, tasksByRun);
  context.loaders.tasksOfRun.prime(id, tasks);
  return run;
}
