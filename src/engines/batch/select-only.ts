import type { DuckDBConnection } from '@duckdb/node-api';
import { LRUCache } from 'lru-cache';
import { EngineError } from '../engine-error.js';

/** Everything else that stands in a FROM clause with parentheses could read files, settings or other people's data. */
const ALLOWED_TABLE_FUNCTIONS = new Set([
  'range',
  'generate_series',
  'unnest',
  'repeat',
  'json_each',
  'json_tree',
]);
/** Scalar functions that look out of the query or hold a thread without doing any work. */
const REFUSED_FUNCTIONS = new Set(['current_setting', 'getvariable', 'write_log', 'sleep_ms', 'pg_sleep']);
/** A common table expression named like a file would hide the file from the check but not, out of its scope, from DuckDB. */
const PLAIN_NAME = /^[^./\\:*?[\]~]+$/;

export interface SerializedSql {
  error: boolean;
  error_type?: string;
  error_message?: string;
  position?: string;
  statements?: unknown[];
}

/** A node of DuckDB's syntax tree. */
export type Syntax = Record<string, unknown>;

/**
 * Throws EngineError SQL unless `sql` is one SELECT that reads its inputs and nothing else.
 * It judges DuckDB's own syntax tree (json_serialize_sql), so quoting and comments cannot hide anything;
 * the sandbox instance's settings are the second wall behind this one.
 */
export async function assertReadsOnly(
  connection: DuckDBConnection,
  sql: string,
  inputs: readonly string[],
): Promise<void> {
  const tree = await serialize(connection, sql);
  if (tree.error) throw new EngineError('SQL', describe(tree, sql));
  const statements = tree.statements ?? [];
  if (statements.length !== 1) {
    throw new EngineError(
      'SQL',
      `A transformation is exactly one SELECT statement, this text has ${statements.length}.`,
    );
  }
  const nodes = [...walk(statements[0])];
  const names = new Set(inputs.map((input) => input.toLowerCase()));
  for (const name of nodes.flatMap(commonTableNames)) {
    if (!PLAIN_NAME.test(name))
      throw new EngineError('SQL', `"${name}" cannot be the name of a common table expression.`);
    names.add(name.toLowerCase());
  }
  for (const node of nodes) assertAllowed(node, names, inputs, sql);
}

/** How often a statement names a table, in whatever case. */
export async function countReferences(
  connection: DuckDBConnection,
  sql: string,
  table: string,
): Promise<number> {
  const { statements = [] } = await serialize(connection, sql);
  const wanted = table.toLowerCase();
  return [...walk(statements)].filter(
    (node) =>
      typeof node['table_name'] === 'string' &&
      node['type'] === 'BASE_TABLE' &&
      node['table_name'].toLowerCase() === wanted,
  ).length;
}

/**
 * A text is asked about when it is judged and for each of its inputs; its tree is not changed by anybody. Bounded in
 * characters of SQL, of which a tree takes some hundred times the room.
 */
const trees = new LRUCache<string, SerializedSql>({
  maxSize: 200_000,
  sizeCalculation: (_, sql) => sql.length + 1,
});

export async function serialize(connection: DuckDBConnection, sql: string): Promise<SerializedSql> {
  const known = trees.get(sql);
  if (known) return known;
  const reader = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR', [sql]);
  const tree = JSON.parse(String(reader.value(0, 0))) as SerializedSql;
  trees.set(sql, tree);
  return tree;
}

/** Throws EngineError SQL when a node reads something but `names`, or looks out of the query. */
export function assertAllowed(
  node: Syntax,
  names: ReadonlySet<string>,
  inputs: readonly string[],
  sql: string,
): void {
  const refuse = (what: string): never => {
    throw new EngineError('SQL', `${what}${placeOf(node['query_location'], sql)}`);
  };
  if (node['type'] === 'BASE_TABLE') {
    const name = [node['catalog_name'], node['schema_name'], node['table_name']].filter(Boolean).join('.');
    if (node['catalog_name'] || node['schema_name'] || !names.has(name.toLowerCase())) {
      refuse(`"${name}" is not an input of this transformation (inputs: ${inputs.join(', ') || 'none'})`);
    }
  }
  if (node['type'] === 'SHOW_REF' && node['query'] == null)
    refuse('SHOW is not available in a transformation');
  if (node['type'] === 'TABLE_FUNCTION') {
    const name = functionName(node['function']);
    if (!ALLOWED_TABLE_FUNCTIONS.has(name))
      refuse(`The table function ${name} is not available in a transformation`);
  }
  if (node['class'] === 'FUNCTION') {
    const name = functionName(node);
    if (REFUSED_FUNCTIONS.has(name)) refuse(`The function ${name} is not available in a transformation`);
  }
  if (node['class'] === 'PARAMETER') refuse('A transformation has no prepared-statement parameters');
}

export function functionName(node: unknown): string {
  const name = isSyntax(node) ? node['function_name'] : undefined;
  return typeof name === 'string' ? name.toLowerCase() : 'of unknown name';
}

function commonTableNames(node: Syntax): string[] {
  const map = isSyntax(node['cte_map']) ? node['cte_map']['map'] : undefined;
  if (!Array.isArray(map)) return [];
  return map.flatMap((entry: unknown) =>
    isSyntax(entry) && typeof entry['key'] === 'string' ? [entry['key']] : [],
  );
}

/** The node and all within it; of what `isEntered` is false for, nothing. */
export function* walk(value: unknown, isEntered: (node: Syntax) => boolean = () => true): Generator<Syntax> {
  // A loop, not recursion: DuckDB's parser allows trees deeper than a JavaScript stack.
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) for (const element of next) waiting.push(element);
    else if (isSyntax(next) && isEntered(next)) {
      yield next;
      // What a constant holds is data of the author's choosing, not syntax.
      if (next['class'] !== 'CONSTANT') waiting.push(...Object.values(next));
    }
  }
}

export function isSyntax(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe(tree: SerializedSql, sql: string): string {
  if (tree.error_type === 'not implemented') return 'A transformation is exactly one SELECT statement.';
  return `SQL: ${tree.error_message ?? 'the text cannot be read'}${placeOf(tree.position, sql)}`;
}

/** DuckDB counts bytes from 0; people count lines and columns from 1. */
export function placeOf(position: unknown, sql: string): string {
  const offset = Number(position);
  if (position == null || !Number.isSafeInteger(offset) || offset < 0 || offset > Buffer.byteLength(sql))
    return '';
  const before = Buffer.from(sql).subarray(0, offset).toString().split('\n');
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} of the SQL)`;
}
