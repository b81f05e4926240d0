import type { GraphQLSchema } from 'graphql';
import { type CheckedRow, checkRow } from './check-row.js';
import { compileOperation, type Operation } from './operation.js';
import { pathShape } from './path-trie.js';
import type { RouteTable, Row } from './row.js';
import { traceResponse, unknownNullPaths } from './row-select.js';
import type { Traced } from './trace-select.js';

export interface PlannedRow extends CheckedRow {
  readonly operation: Operation;
  /** What the response looks like; undefined for a stream, or when `select` can't be followed. */
  readonly traced: Traced | undefined;
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
    const verb = row.kind === 'webSocket' ? 'WEBSOCKET' : row.method;
    const label = `${file}: ${verb} ${row.path}`;
    const finding = planRow(schema, file, row);
    const reasons = 'reasons' in finding ? [...finding.reasons] : [];
    if (!('reasons' in finding)) {
      planned.push(finding);
      const place = `${verb} ${pathShape(finding.segments)}`;
      const before = taken.get(place);
      if (before !== undefined) reasons.push(`the same method and path as ${before}`);
      taken.set(place, label);
    }
    problems.push(...reasons.map((reason) => `${label}: ${reason}`));
  }
  if (problems.length > 0) throw new Error(`The route tables are not usable:\n${problems.join('\n')}`);
  return planned;
}

function planRow(
  schema: GraphQLSchema,
  file: string,
  row: Row<never>,
): PlannedRow | { readonly reasons: readonly string[] } {
  const checked = checkRow(schema, file, row);
  if ('reasons' in checked) return checked;
  const { definition } = checked;
  const traced = row.kind === 'json' ? traceResponse(schema, row, row.document, definition) : undefined;
  const unknown = row.kind === 'json' ? unknownNullPaths(row, traced) : [];
  if (unknown.length > 0) {
    return { reasons: unknown.map((path) => `nulls names "${path}", which is not in the response`) };
  }
  try {
    return { ...checked, traced, operation: compileOperation(schema, row.document, definition) };
  } catch (error) {
    return { reasons: [error instanceof Error ? error.message : String(error)] };
  }
}

function rowsOf(
  tables: readonly RouteTable<never>[],
): readonly { readonly file: string; readonly row: Row<never> }[] {
  return tables.flatMap(({ file, rows }) => rows.map((row) => ({ file, row })));
}
