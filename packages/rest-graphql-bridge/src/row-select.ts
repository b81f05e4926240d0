import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { namedPaths } from './null-policy.js';
import { resultShape } from './result-shape.js';
import type { JsonRow } from './row.js';
import { responsePaths, type Traced, traceSelect } from './trace-select.js';

/** What a row answers with: its own `select`, or the value of the only root field, whose name REST has no use for. */
export function selectOf(
  row: JsonRow<never>,
  { selectionSet }: OperationDefinitionNode,
): (data: unknown) => unknown {
  if (row.select) return row.select;
  const [only, ...others] = selectionSet.selections;
  if (others.length > 0 || only?.kind !== Kind.FIELD) return (data) => data;
  const key = only.alias?.value ?? only.name.value;
  return (data) => (data as { [key: string]: unknown })[key];
}

/** What the response of a row looks like, or undefined when its `select` can't be followed. */
export function traceResponse(
  schema: GraphQLSchema,
  row: JsonRow<never>,
  document: DocumentNode,
  definition: OperationDefinitionNode,
): Traced | undefined {
  return traceSelect(resultShape(schema, document, definition), selectOf(row, definition));
}

/** Paths of the null policy that name nothing in the response. */
export function unknownNullPaths(row: JsonRow<never>, traced: Traced | undefined): readonly string[] {
  if (!traced) return [];
  const paths = responsePaths(traced);
  return Object.keys(namedPaths(row.nulls)).filter((path) => path !== '*' && !paths.has(path));
}
