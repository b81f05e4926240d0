import type { Engine, EngineTask, TaskOutcome, WithinOutcome } from '../../engines/engine.js';
import type { RunTaskStatus } from '../../entities/runs/run-enums.js';
import type { Task, TaskGraph } from '../pipelines/index.js';

/** Tasks that the engine carries out as one: they start, succeed and fail together. */
export interface RunUnit {
  /** Of the task that is executed, whose result or target it is. */
  id: string;
  task: EngineTask;
  /** The task itself last, and before it those within it. */
  members: readonly Task[];
  /** What must have succeeded before; no members. */
  waitsFor: readonly string[];
}

export type Statuses = Map<string, RunTaskStatus>;

export function planRun(engine: Engine, graph: TaskGraph, workspaceId: string): RunUnit[] {
  const byId = new Map(graph.tasks.map((task) => [task.id, task]));
  const readByOneOfTargets = inputsOfSeveralTargets(graph);
  const tasks = graph.tasks.map((task) => ({
    ...task,
    alone: task.retry !== undefined || task.timeoutMs !== undefined || readByOneOfTargets.has(task.id),
  }));
  return engine.plan(tasks, workspaceId).map((task) => {
    const members = [...(task.within ?? []), task].flatMap(({ id }) => byId.get(id) ?? []);
    const own = new Set(members.map(({ id }) => id));
    const waitsFor = new Set(members.flatMap(({ dependsOn }) => dependsOn).filter((id) => !own.has(id)));
    return { id: task.id, task, members, waitsFor: [...waitsFor] };
  });
}

/** Read while its target is written, one of them could fail when another target has been written already. */
function inputsOfSeveralTargets({ tasks }: TaskGraph): ReadonlySet<string> {
  const targets = tasks.filter(isTarget);
  return new Set(targets.length > 1 ? targets.flatMap(({ inputs }) => inputs) : []);
}

/** Targets wait for all other tasks, so that a run which fails before its results are complete has written nowhere. */
export function readyUnits(units: readonly RunUnit[], statuses: Statuses): RunUnit[] {
  const succeeded = (id: string) => statuses.get(id) === 'SUCCESS';
  const computing = units.filter(({ members }) => !members.some(isTarget));
  const computed = computing.every(({ id }) => succeeded(id));
  return units.filter(
    ({ id, members, waitsFor }) =>
      statuses.get(id) === 'PENDING' && (computed || !members.some(isTarget)) && waitsFor.every(succeeded),
  );
}

function isTarget({ kind }: Task): boolean {
  return kind === 'target';
}

export interface MemberOutcome {
  task: Task;
  known: Partial<TaskOutcome & WithinOutcome>;
}

/** What is known of each member of a unit that succeeded; the rows of one within may not have been counted. */
export function memberOutcomes({ id, members }: RunUnit, outcome: TaskOutcome): MemberOutcome[] {
  return members.map((task) => ({
    task,
    known: task.id === id ? outcome : (outcome.within?.[task.id] ?? {}),
  }));
}

/** Marks what a failure keeps from being done; returns the ids with their new status. */
export function markUnstarted(
  graph: TaskGraph,
  statuses: Statuses,
): { taskId: string; status: RunTaskStatus }[] {
  const bad = (id: string) => statuses.get(id) === 'FAILED' || statuses.get(id) === 'UPSTREAM_FAILED';
  return graph.tasks.flatMap(({ id, dependsOn }) => {
    if (statuses.get(id) !== 'PENDING') return [];
    const status = dependsOn.some(bad) ? 'UPSTREAM_FAILED' : 'SKIPPED';
    statuses.set(id, status);
    return [{ taskId: id, status }];
  });
}
