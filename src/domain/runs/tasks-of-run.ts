import DataLoader from 'dataloader';
import type { RequestContext } from '../../context.js';
import { RunTask } from '../../entities/runs/run-task.js';

const loaders = new WeakMap<RequestContext, DataLoader<string, RunTask[]>>();

/** In topological order; all runs that one request asks for are read with one statement. */
export function tasksOfRun(context: RequestContext, runId: string): Promise<RunTask[]> {
  let loader = loaders.get(context);
  if (!loader) {
    loader = new DataLoader((runIds) => readTasks(context, runIds));
    loaders.set(context, loader);
  }
  return loader.load(runId);
}

async function readTasks({ em }: RequestContext, runIds: readonly string[]): Promise<RunTask[][]> {
  const tasks = await em.find(
    RunTask,
    { runId: { $in: [...runIds] } },
    { orderBy: { position: 'asc' }, disableIdentityMap: true },
  );
  const byRun = Map.groupBy(tasks, (task) => task.runId);
  return runIds.map((runId) => byRun.get(runId) ?? []);
}
