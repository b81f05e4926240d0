import type { EngineKind } from '../../../engines/engine.js';
import type { QualityCheckSpec, TaskSpec } from '../../../engines/task-spec.js';
import { durationMs } from './duration.js';
import { fileFormat } from './file-format.js';
import type { RetryPolicy, Task, TaskGraph } from './pipeline-definition.js';
import { checksOf, type WrittenCheck } from './quality-checks.js';
import type { Item } from './read-items.js';
import { orderTasks } from './task-order.js';

type Value = Readonly<Record<string, unknown>>;

/** What every task has besides its spec. */
const OUTSIDE_SPEC: ReadonlySet<string> = new Set([
  'id',
  'description',
  'retry',
  'timeout',
  'inputs',
  'input',
  'dependsOn',
]);

/** Ids an item waits for: what it says and what it reads. */
export function dependenciesOf(item: Item): string[] {
  return [...new Set([...item.dependsOn, ...item.inputs].map(({ id }) => id))];
}

/** Of items that passed every check; in topological order. */
export function compileTasks(items: readonly Item[], checks: readonly WrittenCheck[]): Task[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const waitsFor = new Map(items.map((item) => [item.id, dependenciesOf(item)]));
  const { order, level } = orderTasks([...byId.keys()], waitsFor);
  return order.flatMap((id) => {
    const item = byId.get(id);
    return item ? [toTask(item, level.get(id) ?? 0, checksOf(id, checks))] : [];
  });
}

export function compileGraph(tasks: readonly Task[], engine: EngineKind): TaskGraph {
  const levels: Task[][] = [];
  for (const task of tasks) {
    const same = levels[task.level];
    if (same) same.push(task);
    else levels[task.level] = [task];
  }
  return { engine, tasks, levels };
}

/** The spec of an item whose shape the schema has confirmed. */
function specOf({ kind, value }: Item): TaskSpec {
  const own = Object.fromEntries(Object.entries(value).filter(([key]) => !OUTSIDE_SPEC.has(key)));
  const isFile = value['type'] === 'file';
  return {
    ...own,
    kind,
    ...(isFile && { format: fileFormat(value) }),
    ...(isFile && kind === 'target' && { mode: value['mode'] ?? 'OVERWRITE' }),
  } as unknown as TaskSpec;
}

function toTask(item: Item, level: number, checks: readonly QualityCheckSpec[]): Task {
  const spec = specOf(item);
  return {
    id: item.id,
    kind: spec.kind,
    type: spec.type,
    inputs: item.inputs.map(({ id }) => id),
    dependsOn: dependenciesOf(item),
    level,
    spec,
    ...(checks.length > 0 && { checks }),
    ...policiesOf(item.value),
  };
}

/** Retry and timeout, which stand alike at the top and at a task. */
export function policiesOf(value: Value): { retry?: RetryPolicy; timeoutMs?: number } {
  const timeoutMs = milliseconds(value['timeout']);
  const retry = value['retry'] as Value | undefined;
  return {
    ...(retry && { retry: toRetry(retry) }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

/** The interval of a retry that names none; the default retryDelaySeconds of a pipeline is 60 as well. */
const DEFAULT_INTERVAL_MS = 60_000;

function toRetry(value: Value): RetryPolicy {
  const maxIntervalMs = milliseconds(value['maxInterval']);
  return {
    type: value['type'] === 'exponential' ? 'exponential' : 'fixed',
    intervalMs: milliseconds(value['interval']) ?? DEFAULT_INTERVAL_MS,
    ...(maxIntervalMs !== undefined && { maxIntervalMs }),
    maxAttempts: Number(value['maxAttempts']),
  };
}

function milliseconds(value: unknown): number | undefined {
  return typeof value === 'string' ? durationMs(value) : undefined;
}
