import type { DuckDBConnection } from '@duckdb/node-api';
import type { CastTransformationSpec } from '../../task-spec.js';
import { identifier, literal } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';
import { assertDistinct, columnOf, onlyInput, type Relation, replacing } from './relation.js';

export interface Cast {
  /** As the input spells it. */
  name: string;
  from: string;
  to: string;
}

/** `onError` FAIL and NULL; QUARANTINE is more than one statement and stands in tasks/cast-quarantine.ts. */
export async function castSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  spec: CastTransformationSpec,
): Promise<string> {
  const input = await onlyInput(context, connection);
  const expression = spec.onError === 'NULL' ? tryCast : castOrFail;
  return replacing(input, new Map(castsOf(spec, input).map((cast) => [cast.name, expression(cast)])));
}

/** @throws EngineError SQL, when the input has no such column */
export function castsOf({ columns }: CastTransformationSpec, input: Relation): Cast[] {
  assertDistinct(Object.keys(columns), 'columns');
  return Object.entries(columns).map(([wanted, to]) => {
    const { name, type } = columnOf(input, wanted, 'columns');
    return { name, from: type, to };
  });
}

/** Null where the value does not cast. */
export function tryCast({ name, to }: Cast): string {
  return `TRY_CAST(${identifier(name)} AS ${to})`;
}

/** True where there is a value and it does not cast. */
export function isBroken(cast: Cast): string {
  return `${identifier(cast.name)} IS NOT NULL AND ${tryCast(cast)} IS NULL`;
}

/** DuckDB's own error would show the value and not the column. */
export function castOrFail(cast: Cast): string {
  const { name, from, to } = cast;
  const message = `columns: a value of "${name}" does not cast from ${from} to ${to}.`;
  return `CASE WHEN ${isBroken(cast)} THEN error(${literal(message)}) ELSE ${tryCast(cast)} END`;
}
