import type { GraphQLSchema } from 'graphql';
import { type CheckedRow, checkRow } from './check-row.js';
import { compileOperation, type Operation } from './operation.js';
import { pathShape } from './path-trie.js';
import type { RouteTable, Row } from './row.js';

export interface PlannedRow extends CheckedRow {
  readonly operation: Operation;
}

/**
 * Checks and compiles all rows of all tables.
 * @throws Error that lists every problem of every row, as `file: METHOD /path: reason`.
 */
export function planTables(
  schema: GraphQLSchema,
  tables: readonly RouteTable<never>[],
): readonly PlannedRow[] {
  const problems: string[] = [];
  const taken = new Map<string, string>();
  const planned: PlannedRow[] = [];
  for (const { file, row } of rowsOf(tables)) {
    const label = `${file}: ${row.kind === 'webSocket' ? 'WEBSOCKET' : row.method} ${row.path}`;
    const finding = checkRow(schema, file, row);
    if ('reasons' in finding) {
      problems.push(...finding.reasons.map((reason) => `${label}: ${reason}`));
      continue;
    }
    const place = `${row.kind === 'webSocket' ? 'WEBSOCKET' : row.method} ${pathShape(finding.segments)}`;
    const before = taken.get(place);
    if (before !== undefined) problems.push(`${label}: the same method and path as ${before}`);
    taken.set(place, label);
    try {
      planned.push({ ...finding, operation: compileOperation(schema, row.document, finding.definition) });
    } catch (error) {
      problems.push(`${label}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (problems.length > 0) throw new Error(`The route tables are not usable:\n${problems.join('\n')}`);
  return planned;
}

function rowsOf(
  tables: readonly RouteTable<never>[],
): readonly { readonly file: string; readonly row: Row<never> }[] {
  return tables.flatMap(({ file, rows }) => rows.map((row) => ({ file, row })));
}
