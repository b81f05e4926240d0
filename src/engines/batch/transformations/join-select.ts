import type { DuckDBConnection } from '@duckdb/node-api';
import { EngineError } from '../../engine-error.js';
import type { JoinTransformationSpec } from '../../task-spec.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';
import { assertDistinct, columnOf, inputsOf, type Relation, sameName } from './relation.js';

interface Pair {
  left: string;
  right: string;
}

/**
 * All columns of the left, then those of the right. A key of one name in both is one column; another right column
 * whose name the left has gets the prefix. SEMI and ANTI give the left's columns alone. Null keys meet nothing.
 */
export async function joinSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  spec: JoinTransformationSpec,
): Promise<string> {
  const { how = 'INNER' } = spec;
  const [left, right] = await inputsOf(context, connection, 2);
  if (!left || !right) throw new Error(`Task ${context.task.id} lost an input.`);
  const pairs = pairsOf(spec, left, right);
  if ((how === 'CROSS') !== (pairs.length === 0)) {
    throw new EngineError(
      'SQL',
      how === 'CROSS' ? 'on: a CROSS join has none.' : 'on: name a column to join by.',
    );
  }
  const from = `FROM ${identifier(left.name)} AS l ${how} JOIN ${identifier(right.name)} AS r`;
  const condition = pairs
    .map((pair) => `l.${identifier(pair.left)} = r.${identifier(pair.right)}`)
    .join(' AND ');
  const list =
    how === 'SEMI' || how === 'ANTI'
      ? left.columns.map(({ name }) => `l.${identifier(name)}`)
      : columnsOf(spec, left, right, pairs);
  return `SELECT ${list.join(', ')} ${from}${condition && ` ON ${condition}`}`;
}

function pairsOf({ on = [] }: JoinTransformationSpec, left: Relation, right: Relation): Pair[] {
  const named: [string, string][] = isNames(on) ? on.map((name) => [name, name]) : Object.entries(on);
  return named.map(([l, r]) => ({
    left: columnOf(left, l, 'on').name,
    right: columnOf(right, r, 'on').name,
  }));
}

function isNames(on: NonNullable<JoinTransformationSpec['on']>): on is readonly string[] {
  return Array.isArray(on);
}

function columnsOf(
  { how = 'INNER', rightPrefix = 'right_' }: JoinTransformationSpec,
  left: Relation,
  right: Relation,
  pairs: readonly Pair[],
): string[] {
  const shared = pairs.filter((pair) => sameName(pair.left, pair.right));
  const ofLeft = left.columns.map(({ name }) => {
    const key = shared.find((pair) => pair.left === name);
    const column = `l.${identifier(name)}`;
    // Where the left has no row, the key is the right's.
    const value =
      key && (how === 'RIGHT' || how === 'FULL') ? `coalesce(${column}, r.${identifier(key.right)})` : column;
    return { name, value };
  });
  const ofRight = right.columns
    .filter(({ name }) => !shared.some((pair) => pair.right === name))
    .map(({ name }) => ({
      name: left.columns.some((column) => sameName(column.name, name)) ? `${rightPrefix}${name}` : name,
      value: `r.${identifier(name)}`,
    }));
  const columns = [...ofLeft, ...ofRight];
  assertDistinct(
    columns.map(({ name }) => name),
    'rightPrefix',
  );
  return columns.map(({ name, value }) => `${value} AS ${identifier(name)}`);
}
