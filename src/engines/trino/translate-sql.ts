import type { Dialect } from '@polyglot-sql/sdk';
import { EngineError } from '../engine-error.js';
import { confine, isNode, type TableRule } from './confine-query.js';

type Polyglot = typeof import('@polyglot-sql/sdk');

export type SourceDialect = 'duckdb' | 'postgres' | 'mysql';

let loading: Promise<Polyglot> | undefined;

/** 23 MB of WebAssembly, compiled once, and only where a graph goes to Trino. */
function polyglot(): Promise<Polyglot> {
  loading ??= import('@polyglot-sql/sdk');
  return loading;
}

/**
 * One query of an author in Trino's dialect, reading only what the rule admits. What is judged is the text that is
 * sent, not the one that was written.
 * @throws EngineError SQL, when it is no single query, cannot be translated, or reads something else
 */
export async function translateQuery(sql: string, from: SourceDialect, rule: TableRule): Promise<string> {
  const { parse, generate, transpile } = await polyglot();
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
  return textOf(generate([confine(query, rule)], 'trino' as Dialect));
}

function textOf(result: { success: boolean; sql?: string[] | null; error?: string | null }): string {
  const [text, ...more] = result.sql ?? [];
  if (!result.success || text === undefined || more.length > 0) throw refused(result.error);
  return text;
}

function refused(reason: string | null | undefined): EngineError {
  return new EngineError('SQL', `The SQL cannot be put into Trino's dialect: ${reason ?? 'it is empty'}.`);
}

/** DuckDB sorts nulls last in either direction; polyglot takes it to sort them first under DESC, as PostgreSQL does. */
function nullsLast(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value) && value['nulls_first'] === null) value['nulls_first'] = false;
  for (const inner of Object.values(value)) nullsLast(inner);
}
