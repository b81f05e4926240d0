import { placeholdersIn } from './placeholders.js';
import type { WrittenCheck } from './quality-checks.js';
import type { Item } from './read-items.js';
import type { Path } from './yaml-text.js';

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

export interface Obstacle {
  /** A sentence that names the task. */
  why: string;
  path: Path;
  key?: string;
  /** Whether a run's parameters may do away with it. */
  varies?: boolean;
}

/** Why these tasks cannot be one transaction in the database they read and write; none when they can. */
export function pushDownObstacles(items: readonly Item[], checks: readonly WrittenCheck[]): Obstacle[] {
  const checked = new Map(checks.map((check) => [check.on, check]));
  const found = [...items.flatMap((item) => obstaclesAt(item, checked)), ...betweenDatasets(items)];
  const hasTarget = items.some(({ kind }) => kind === 'target');
  return found.length > 0 || hasTarget ? found : [{ why: 'no task is a target.', path: [], key: 'engine' }];
}

function obstaclesAt(
  { id, kind, path, value }: Item,
  checked: ReadonlyMap<string, WrittenCheck>,
): Obstacle[] {
  const { type } = value;
  if (!PUSHED_DOWN.has(`${kind}:${type}`)) {
    return [{ why: `"${id}" is a ${kind} of type ${type}, which cannot be pushed down.`, path, key: 'type' }];
  }
  const found: Obstacle[] = [];
  if (value['incremental'] !== undefined) {
    const why = `"${id}" is incremental, and a watermark is kept by BATCH only.`;
    found.push({ why, path, key: 'incremental' });
  }
  const check = checked.get(id);
  if (check) {
    const why = `"${id}" has quality checks, which need its result before the targets are written.`;
    found.push({ why, path: check.path, key: 'on' });
  }
  const policy = ['retry', 'timeout'].find((key) => value[key] !== undefined);
  if (policy) {
    const why = `"${id}" has a retry or timeout of its own, which one transaction cannot keep: put it at the top.`;
    found.push({ why, path, key: policy });
  }
  return found;
}

function betweenDatasets(items: readonly Item[]): Obstacle[] {
  const datasets = items.flatMap(({ id, kind, path, value: { type, connection } }) =>
    typeof connection === 'string' && PUSHED_DOWN.has(`${kind}:${type}`)
      ? [{ id, path, type, name: connection }]
      : [],
  );
  const [first] = datasets;
  if (!first) return [];
  const other = datasets.find(({ name }) => name !== first.name);
  if (other) {
    const why = `"${first.id}" is on the connection "${first.name}", "${other.id}" on "${other.name}".`;
    const varies = placeholdersIn(first.name + other.name).length > 0;
    return [{ why, path: other.path, key: 'connection', varies }];
  }
  const stranger = datasets.find(({ type }) => type !== first.type);
  if (!stranger) return [];
  const why = `"${first.id}" is of type ${first.type}, "${stranger.id}" of type ${stranger.type}, on one connection.`;
  return [{ why, path: stranger.path, key: 'type' }];
}
