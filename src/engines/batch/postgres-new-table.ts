import type { Client } from 'pg';
import { identifier } from './sql-text.js';
import type { TableName } from './table-name.js';

export interface LoadColumn {
  name: string;
  /** PostgreSQL type, used when the target has to be made. */
  type: string;
}

/**
 * Inside the transaction that would make the table: waits for another that is making it, or its schema, since CREATE
 * fails where both make it at once, also with IF NOT EXISTS. True when the table is there by now.
 */
export async function isMadeMeanwhile(client: Client, { schema, table }: TableName): Promise<boolean> {
  await client.query(
    `SELECT pg_advisory_xact_lock(hashtextextended('opsgraph.create ' || quote_ident($1), 0))
     WHERE to_regnamespace(quote_ident($1)) IS NULL`,
    [schema],
  );
  await client.query(
    `SELECT pg_advisory_xact_lock(hashtextextended(
       'opsgraph.create ' || format('%I.%I', coalesce($1, current_schema()), $2::text), 0))`,
    [schema, table],
  );
  // Not to_regclass, which may go on remembering that there was none.
  const { rows } = await client.query<{ present: boolean }>(
    `SELECT EXISTS (
       SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = coalesce($1, current_schema()) AND c.relname = $2) AS present`,
    [schema, table],
  );
  return rows[0]?.present ?? false;
}

export function createStatements(
  { schema, quoted }: TableName,
  columns: readonly LoadColumn[],
  keys: readonly string[],
): string[] {
  const primaryKey = keys.length > 0 ? `, PRIMARY KEY (${keys.map(identifier).join(', ')})` : '';
  const table = `CREATE TABLE ${quoted} (${definitions(columns)}${primaryKey})`;
  return schema === undefined ? [table] : [createSchema(schema), table];
}

/** Not IF NOT EXISTS alone, which asks for the right to create schemas even when this one is there. */
function createSchema(schema: string): string {
  const statement = `CREATE SCHEMA IF NOT EXISTS ${identifier(schema)}`;
  return `DO $do$ BEGIN IF to_regnamespace($name$${identifier(schema)}$name$) IS NULL THEN ${statement}; END IF; END $do$`;
}

export function definitions(columns: readonly LoadColumn[]): string {
  return columns.map(({ name, type }) => `${identifier(name)} ${type}`).join(', ');
}
