import type { Task } from './pipeline-definition.js';

/** What src/engines/jdbc can say in one SELECT or INSERT; `kind:type`. */
const PUSHED_DOWN: ReadonlySet<string> = new Set([
  'source:postgres',
  'source:mysql',
  'transformation:sql',
  'transformation:filter',
  'transformation:rename',
  'transformation:deduplicate',
  'transformation:aggregate',
  'transformation:join',
  'target:postgres',
  'target:mysql',
]);

/**
 * Why these tasks cannot be one transaction in the database they read and write, as a sentence that names the task;
 * undefined when they can.
 */
export function pushDownObstacle(tasks: readonly Task[]): string | undefined {
  for (const task of tasks) {
    const why = obstacleAt(task);
    if (why) return `"${task.id}" ${why}.`;
  }
  const datasets = tasks.flatMap(({ id, spec }) =>
    'connection' in spec ? [{ id, type: spec.type, name: spec.connection }] : [],
  );
  const [first] = datasets;
  const other = datasets.find(({ name }) => name !== first?.name);
  if (first && other) {
    return `"${first.id}" is on the connection "${first.name}", "${other.id}" on "${other.name}".`;
  }
  const stranger = datasets.find(({ type }) => type !== first?.type);
  if (first && stranger) {
    return `"${first.id}" is of type ${first.type}, "${stranger.id}" of type ${stranger.type}, on one connection.`;
  }
  return tasks.some(({ kind }) => kind === 'target') ? undefined : 'no task is a target.';
}

function obstacleAt({ kind, type, spec, checks = [], retry, timeoutMs }: Task): string | undefined {
  if (!PUSHED_DOWN.has(`${kind}:${type}`)) return `is a ${kind} of type ${type}, which cannot be pushed down`;
  if ('incremental' in spec && spec.incremental)
    return 'is incremental, and a watermark is kept by BATCH only';
  if (checks.length > 0) return 'has quality checks, which need its result before the targets are written';
  if (retry || timeoutMs !== undefined) {
    return 'has a retry or timeout of its own, which one transaction cannot keep: put it at the top';
  }
  return undefined;
}
