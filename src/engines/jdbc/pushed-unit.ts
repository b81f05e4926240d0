import { toEngineError } from '../batch/classify-error.js';
import { widened } from '../batch/load-input.js';
import type { EngineTask, ResultColumn, TaskHooks, TaskOutcome, WithinOutcome } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { MysqlTargetSpec, PostgresTargetSpec } from '../task-spec.js';

type TableTargetSpec = PostgresTargetSpec | MysqlTargetSpec;

export type TargetTask<Spec extends TableTargetSpec> = EngineTask & { spec: Spec };

type TargetOf<Type> = TargetTask<Extract<TableTargetSpec, { type: Type }>>;

/** The tasks in their order: nothing but a target waits for a target. */
export function partsOf<Type extends TableTargetSpec['type']>(
  unit: EngineTask,
  type: Type,
): { steps: EngineTask[]; targets: TargetOf<Type>[] } {
  const isTarget = (task: EngineTask): task is TargetOf<Type> =>
    task.spec.kind === 'target' && task.spec.type === type;
  const tasks = [...(unit.within ?? []), unit];
  return { steps: tasks.filter((task) => !isTarget(task)), targets: tasks.filter(isTarget) };
}

/**
 * Whether what the targets write is computed before the first of them is touched. A source may read the table of a
 * target, by a view for instance: an emptied table would have no rows for itself, and for the next target the new ones.
 * INSERT ... SELECT alone takes what was there before it.
 */
export function mustBeStaged(targets: readonly TargetTask<TableTargetSpec>[]): boolean {
  return targets.length > 1 || targets.some(({ spec }) => spec.mode !== 'APPEND');
}

/** The id of what a target writes. @throws EngineError TARGET */
export function inputOf({ id, inputs: [input] }: EngineTask): string {
  if (input === undefined) throw new EngineError('TARGET', `The target "${id}" has no input.`);
  return input;
}

/** Of the targets that an attempt before this one has written, by their ids. */
export async function earlierOutcomes(
  targets: readonly TargetTask<TableTargetSpec>[],
  committedRows: (taskId: string) => Promise<number | undefined>,
): Promise<Map<string, TaskOutcome>> {
  const outcomes = new Map<string, TaskOutcome>();
  for (const { id, spec } of targets) {
    const rows = await committedRows(id);
    if (rows !== undefined) outcomes.set(id, { rows, output: spec.table, alreadyDone: true });
  }
  return outcomes;
}

/** Puts the task's id on whatever its part of the unit throws. */
export async function attributed<T>({ id, spec }: EngineTask, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { kind, message, transient } = toEngineError(error, spec.kind === 'target' ? 'TARGET' : 'SQL');
    throw new EngineError(kind, message, { transient, taskId: id, cause: error });
  }
}

interface Written {
  rows: number;
  columns: readonly ResultColumn[];
  /** Columns that the table lacked. */
  added: readonly ResultColumn[];
}

/** What a target has done, for the log and as its outcome. */
export function written(
  { id, spec: { table, connection, mode } }: TargetTask<TableTargetSpec>,
  { rows, columns, added }: Written,
  hooks: TaskHooks,
): TaskOutcome {
  const healing = widened(table, added);
  for (const { reason } of healing) hooks.log('WARN', `${id}: ${reason}`);
  hooks.log('INFO', `${id}: ${rows} rows to ${table} of ${connection} (${mode}, pushed down)`);
  return { rows, output: table, columns, ...(healing.length > 0 && { healing }) };
}

export function outcomeOfUnit(unit: EngineTask, outcomes: ReadonlyMap<string, TaskOutcome>): TaskOutcome {
  const within = (unit.within ?? []).map(({ id, spec }): [string, WithinOutcome] => {
    const outcome = outcomes.get(id);
    const columns = outcome?.columns ?? [];
    // The rows of a source or transformation are nobody's to count without computing it once more.
    return [id, spec.kind === 'target' ? { rows: outcome?.rows ?? 0, columns } : { columns }];
  });
  return { rows: 0, ...outcomes.get(unit.id), within: Object.fromEntries(within) };
}
