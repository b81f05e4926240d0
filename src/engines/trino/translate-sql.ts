import { type Dialect, generate, parse, transpile } from '@polyglot-sql/sdk';
import { EngineError } from '../engine-error.js';
import { confine, isNode, type TableRule } from './confine-query.js';

export type SourceDialect = 'duckdb' | 'postgres' | 'mysql';

/** What a query may read: tasks by their ids, which Trino does not tell by case, or what lies in a catalog. */
export type ReadableTables =
  | { tasks: readonly string[] }
  | {
      catalog: string;
      /** Of a name without one. */
      schema: string;
    };

/**
 * One query of an author in Trino's dialect, reading only what it may. What is judged is the text that is
 * sent, not the one that was written.
 * @throws EngineError SQL, when it is no single query, cannot be translated, or reads something else; Error when the
 *   parser broke over it
 */
export function translateQuery(sql: string, from: SourceDialect, readable: ReadableTables): string {
  const written = parse(sql, from as Dialect);
  const statements: unknown[] = Array.isArray(written.ast) ? written.ast : [written.ast];
  if (!written.success) throw refused(written.error);
  if (statements.length !== 1) throw new EngineError('SQL', 'The SQL must be one query.');
  if (from === 'duckdb') nullsLast(statements);
  const plain = textOf(generate(statements, from as Dialect));
  const translated = textOf(
    transpile(plain, from as Dialect, 'trino' as Dialect, { unsupportedLevel: 'raise' }),
  );
  const parsed = parse(translated, 'trino' as Dialect);
  if (!parsed.success) throw refused(parsed.error);
  const [query, ...more] = Array.isArray(parsed.ast) ? (parsed.ast as unknown[]) : [parsed.ast];
  if (more.length > 0) throw new EngineError('SQL', 'The SQL must be one query.');
  return textOf(generate([confine(query, ruleOf(readable))], 'trino' as Dialect));
}

function ruleOf(readable: ReadableTables): TableRule {
  if ('catalog' in readable) {
    return ({ catalog = readable.catalog, schema = readable.schema, table }) =>
      catalog === readable.catalog ? { catalog, schema, table } : undefined;
  }
  const tasks = new Set(readable.tasks.map((id) => id.toLowerCase()));
  return ({ catalog, schema, table }) =>
    catalog === undefined && schema === undefined && tasks.has(table.toLowerCase())
      ? { catalog, schema, table: table.toLowerCase() }
      : undefined;
}

function textOf(result: { success: boolean; sql?: string[] | null; error?: string | null }): string {
  const [text, ...more] = result.sql ?? [];
  if (!result.success || text === undefined || more.length > 0) throw refused(result.error);
  return text;
}

function refused(reason: string | null | undefined): Error {
  // An instance that trapped, by its stack for one, is left in the middle of things and must not be asked again.
  if (reason?.startsWith('WASM ')) return new Error(reason);
  return new EngineError('SQL', `The SQL cannot be put into Trino's dialect: ${reason ?? 'it is empty'}.`);
}

/** DuckDB sorts nulls last in either direction; polyglot takes it to sort them first under DESC, as PostgreSQL does. */
function nullsLast(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value) && value['nulls_first'] === null) value['nulls_first'] = false;
  for (const inner of Object.values(value)) nullsLast(inner);
}
