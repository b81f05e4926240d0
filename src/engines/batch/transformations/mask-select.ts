import type { DuckDBConnection } from '@duckdb/node-api';
import type { ResultColumn } from '../../engine.js';
import type { MaskMethod, MaskTransformationSpec } from '../../task-spec.js';
import { hmacSql, setMaskKey } from '../mask/hmac-sql.js';
import { identifier, literal } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';
import { assertDistinct, columnOf, onlyInput, replacing } from './relation.js';

const REDACTED = '[REDACTED]';
const CHARACTERS_KEPT = 4;

/** Nulls stay null. NULL keeps the column's type, the other methods give text. */
export async function maskSelect(
  context: TaskContext,
  connection: DuckDBConnection,
  { columns }: MaskTransformationSpec,
): Promise<string> {
  const input = await onlyInput(context, connection);
  assertDistinct(Object.keys(columns), 'columns');
  const methods = Object.entries(columns);
  if (methods.some(([, { method }]) => method === 'HASH'))
    await setMaskKey(connection, context.options.maskKey);
  const masked = methods.map(([wanted, method]): [string, string] => {
    const column = columnOf(input, wanted, 'columns');
    return [column.name, maskedBy(method, column)];
  });
  return replacing(input, new Map(masked));
}

function maskedBy(mask: MaskMethod, { name, type }: ResultColumn): string {
  const text = `CAST(${identifier(name)} AS VARCHAR)`;
  switch (mask.method) {
    case 'NULL':
      return `CAST(NULL AS ${type})`;
    case 'REDACT':
      return `CASE WHEN ${identifier(name)} IS NOT NULL THEN ${literal(mask.with ?? REDACTED)} END`;
    case 'HASH':
      return hmacSql(text);
    case 'PARTIAL':
      return partial(text, mask.keep ?? CHARACTERS_KEPT);
  }
}

/** A value no longer than what may be kept would be kept whole, so all of it is hidden. */
function partial(text: string, keep: number): string {
  return `CASE WHEN length(${text}) > ${keep} THEN repeat('*', length(${text}) - ${keep}) || right(${text}, ${keep})
    ELSE repeat('*', length(${text})) END`;
}
