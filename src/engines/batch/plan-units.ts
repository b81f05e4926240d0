import type { EngineTask, GraphTask } from '../engine.js';
import type { FileSourceSpec, TaskSpec } from '../task-spec.js';

/** A longer chain is cut, so that a run that is taken up again does not start it from its beginning. */
const MAX_WITHIN = 15;

/**
 * Puts a file source or a transformation into the one transformation that reads it, when nothing else waits for it:
 * DuckDB then streams through them all at once, and no intermediate result is written. In the same way a PostgreSQL
 * source goes into a PostgreSQL target that appends. `tasks` are in topological order.
 */
export function planUnits(tasks: readonly GraphTask[]): EngineTask[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const dependents = Map.groupBy(
    tasks.flatMap(({ id, dependsOn }) => dependsOn.map((needed) => ({ needed, id }))),
    ({ needed }) => needed,
  );
  // A referential check reads the saved result of the task it names, be that an input of its own task.
  const compared = new Set(
    tasks.flatMap(({ checks = [] }) =>
      checks.flatMap((check) => (check.type === 'referential' ? [check.references.task] : [])),
    ),
  );
  const withinOf = new Map<string, EngineTask[]>();
  const taken = new Set<string>();
  for (const task of tasks) {
    const takes = takesInOf(task.spec);
    if (!takes) continue;
    const within: EngineTask[] = [];
    for (const input of task.inputs) {
      const inner = byId.get(input);
      if (!inner || dependents.get(input)?.length !== 1 || compared.has(input) || !canBeWithin(inner, takes))
        continue;
      const chain = [...(withinOf.get(input) ?? []), asTask(inner)];
      if (within.length + chain.length > MAX_WITHIN) continue;
      within.push(...chain);
      taken.add(input);
    }
    if (within.length > 0) withinOf.set(task.id, within);
  }
  return tasks.flatMap((task) => {
    const within = withinOf.get(task.id);
    return taken.has(task.id) ? [] : [{ ...asTask(task), ...(within && { within }) }];
  });
}

/** Which inputs a task can carry out as a part of itself. */
function takesInOf(spec: TaskSpec): ((inner: TaskSpec) => boolean) | undefined {
  if (isComputedInPlace(spec)) return isPartOfSelect;
  return isAppendedTo(spec) ? isCopiedWhole : undefined;
}

/** A result that is checked has to be there first, and a retry or timeout of one task is not another's. */
function canBeWithin({ spec, checks, alone }: GraphTask, takes: (spec: TaskSpec) => boolean): boolean {
  return !alone && (checks?.length ?? 0) === 0 && takes(spec);
}

function isPartOfSelect(spec: TaskSpec): boolean {
  return isComputedInPlace(spec) || isReadInPlace(spec);
}

/** Its rows can go in as they come: nothing is compared with what is there, and nothing of them is to be remembered. */
function isAppendedTo(spec: TaskSpec): boolean {
  return (
    spec.kind === 'target' &&
    spec.type === 'postgres' &&
    spec.mode === 'APPEND' &&
    spec.deleteWhen === undefined
  );
}

function isCopiedWhole(spec: TaskSpec): boolean {
  return spec.kind === 'source' && spec.type === 'postgres' && spec.incremental === undefined;
}

/** One SELECT over its inputs. */
function isComputedInPlace(spec: TaskSpec): boolean {
  if (spec.kind !== 'transformation' || spec.type === 'javascript') return false;
  return !(spec.type === 'cast' && spec.onError === 'QUARANTINE');
}

/**
 * A file of the server's own, of which every row counts. JSON without `columns` is read whole whenever it is bound, for
 * the names and types of its columns.
 */
export function isReadInPlace(spec: TaskSpec): spec is FileSourceSpec {
  return (
    spec.kind === 'source' &&
    spec.type === 'file' &&
    spec.connection === undefined &&
    spec.incremental === undefined &&
    spec.quarantine === undefined &&
    (spec.columns !== undefined || spec.format === 'csv' || spec.format === 'parquet')
  );
}

function asTask({ id, inputs, spec, checks }: GraphTask): EngineTask {
  return { id, inputs, spec, ...(checks && { checks }) };
}
