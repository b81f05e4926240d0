import type { ResultColumn } from '../../engines/engine.js';
import type { Origin, Subtype } from './origin.js';

/** Loaded when the first run has ended: the parser is 270 ms of WebAssembly that a server without runs does not need. */
let parser: Promise<typeof import('@polyglot-sql/sdk')> | undefined;

/**
 * Which columns of its inputs each column of a SELECT is made from, read from the syntax tree in DuckDB's dialect.
 * Empty when the text is beyond the parser: lineage is never a reason for a run to fail.
 */
export async function sqlOrigins(
  sql: string,
  inputs: readonly string[],
  columns: ReadonlyMap<string, readonly ResultColumn[]>,
): Promise<Map<string, Origin[]>> {
  parser ??= import('@polyglot-sql/sdk');
  const { openLineageColumnLineage } = await parser;
  const tables = inputs.map((name) => ({ name, columns: [...(columns.get(name) ?? [])] }));
  const result = openLineageColumnLineage(sql, {
    dialect: 'duckdb',
    producer: 'opsgraph',
    datasetNamespace: 'task',
    outputDataset: { namespace: 'task', name: 'result' },
    schema: { tables, strict: false },
  });
  const byName = new Map(inputs.map((name) => [name.toLowerCase(), name]));
  return new Map(
    Object.entries(result.facet?.fields ?? {}).map(([column, { inputFields }]) => [
      column,
      inputFields.flatMap(({ name, field, transformations }) => {
        const input = byName.get(name.toLowerCase());
        const subtype = (transformations?.[0]?.subtype ?? 'TRANSFORMATION') as Subtype;
        return input === undefined ? [] : [{ input, field, subtype }];
      }),
    ]),
  );
}
