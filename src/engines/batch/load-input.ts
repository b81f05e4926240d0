import type { TaskHealing } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { TableTargetMode } from '../task-spec.js';

/** What the targets of all databases ask of an input before they touch a table. */
export interface LoadTarget {
  table: string;
  mode: TableTargetMode;
  keys?: readonly string[];
  widen?: boolean;
}

/** Throws EngineError TARGET when a key is no column of the input. */
export function assertKeysKnown(
  { table, keys = [] }: LoadTarget,
  columns: readonly { name: string }[],
): void {
  const unknown = keys.filter((key) => !columns.some(({ name }) => name === key));
  if (unknown.length === 0) return;
  throw new EngineError(
    'TARGET',
    `The input of ${table} has no column ${unknown.join(', ')} to use as a key.`,
  );
}

/** The columns the table lacks, to be added. Throws EngineError TARGET when the target does not widen. */
export function columnsToAdd<Column extends { name: string }>(
  { table, widen = true }: LoadTarget,
  columns: readonly Column[],
  has: (name: string) => boolean,
): Column[] {
  const missing = columns.filter(({ name }) => !has(name));
  if (missing.length > 0 && !widen) {
    const names = missing.map(({ name }) => name).join(', ');
    throw new EngineError('TARGET', `The table ${table} has no column ${names}, which the input has.`);
  }
  return missing;
}

export function widened(table: string, added: readonly { name: string; type: string }[]): TaskHealing[] {
  if (added.length === 0) return [];
  const names = added.map(({ name, type }) => `${name} (${type})`).join(', ');
  return [{ strategy: 'WIDEN_TARGET', reason: `The table ${table} lacked ${names}: added as nullable.` }];
}
