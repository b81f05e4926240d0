import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Client, FieldDef } from 'pg';
import copyStreams from 'pg-copy-streams';
import type { TaskOutcome } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import { STANDARD_QUOTES } from '../../sql-quotes.js';
import type { PostgresSourceSpec } from '../../task-spec.js';
import { type ScratchColumn, selectFromCsv } from '../csv-scratch.js';
import { withPostgres } from '../postgres-client.js';
import {
  declaredDecimal,
  isOrderedAlike,
  MAX_PRECISION,
  NUMERIC_OID,
  type ReadRule,
  readRule,
} from '../postgres-types.js';
import { saveResult, withScratchFile } from '../run-files.js';
import { ScratchLimit } from '../scratch-limit.js';
import { identifier, literal, withoutSemicolon } from '../sql-text.js';
import { tableName } from '../table-name.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { newWatermark, watermarkColumn, windowOf } from '../watermark.js';

interface SourceColumn extends ScratchColumn {
  oid: number;
  rule: ReadRule;
}

/**
 * Reads a table or query in one read-only snapshot: COPY streams it as CSV into a file of the run's directory,
 * DuckDB turns that into typed Parquet. Memory stays bounded whatever the size; the disk holds the CSV meanwhile.
 */
export function runPostgresSource(context: TaskContext, spec: PostgresSourceSpec): Promise<TaskOutcome> {
  const { task } = context;
  return withScratchFile(context, 'csv', async (csv) => {
    const columns = await withPostgres(context, (client) => download(context, client, spec, csv));
    return withDuckDb(context, 'sandbox', async (connection) => {
      const saved = await saveColumns(context, connection, csv, columns);
      if (spec.incremental) watermarkColumn(spec.incremental, columns, isOrderedAlike);
      context.log(
        'INFO',
        `${task.id}: ${saved.rows} rows from ${spec.table ?? 'a query'} of ${spec.connection}`,
      );
      return { ...saved, ...(await newWatermark(context, connection, spec.incremental)) };
    });
  });
}

/** That a timestamp is after DuckDB's last (294247-01-10) is found out where one is: to look for it first would cost a pass. */
async function saveColumns(
  context: TaskContext,
  connection: DuckDBConnection,
  csv: string,
  columns: readonly SourceColumn[],
): ReturnType<typeof saveResult> {
  try {
    return await saveResult(context, connection, selectFromCsv(csv, columns));
  } catch (error) {
    const isLate = error instanceof Error && /Could not convert string .* to 'TIMESTAMP/.test(error.message);
    const late = isLate ? await lateTimestamps(connection, csv, columns) : [];
    if (late.length === 0) throw error;
    for (const column of late) {
      column.rule = { type: 'VARCHAR' };
      context.log(
        'WARN',
        `${context.task.id}: column "${column.name}" holds timestamps after 294247-01-10; it is read as text.`,
      );
    }
    return saveResult(context, connection, selectFromCsv(csv, columns));
  }
}

async function lateTimestamps(
  connection: DuckDBConnection,
  csv: string,
  columns: readonly SourceColumn[],
): Promise<SourceColumn[]> {
  const texts = columns.map((column) => ({ ...column, rule: { type: 'VARCHAR' } }));
  const late = columns.map(({ name, rule }) =>
    rule.type.startsWith('TIMESTAMP')
      ? `count(${identifier(name)}) > count(TRY_CAST(${identifier(name)} AS ${rule.type}))`
      : 'false',
  );
  const found = await connection.runAndReadAll(
    `SELECT ${late.join(', ')} FROM (${selectFromCsv(csv, texts)})`,
  );
  return columns.filter((_, index) => found.value(index, 0) === true);
}

async function download(
  context: TaskContext,
  client: Client,
  spec: PostgresSourceSpec,
  csv: string,
): Promise<SourceColumn[]> {
  const query = queryOf(spec);
  // A snapshot, so that what was measured of numeric columns still holds when they are read.
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const columns = await describeColumns(context, client, query);
  const list = columns.map(({ alias, rule }) => rule.select?.(alias) ?? alias).join(', ');
  const copy = client.query(
    // Every value quoted and null not: an empty string, a null and the text \\N stay three things.
    copyStreams.to(`COPY (SELECT ${list} FROM ${derived(query, columns)}${condition(context, spec, columns)}) TO STDOUT
      WITH (FORMAT csv, FORCE_QUOTE *, NULL '\\N', ENCODING 'UTF8')`),
  );
  await pipeline(copy, new ScratchLimit(context).stream(), createWriteStream(csv, { mode: 0o600 }), {
    signal: context.signal,
  });
  await client.query('COMMIT');
  return columns;
}

/** The literal takes the column's own type; text is compared by its bytes, as DuckDB finds the greatest. */
function condition(
  context: TaskContext,
  { incremental }: PostgresSourceSpec,
  columns: readonly SourceColumn[],
): string {
  if (!incremental) return '';
  const column = watermarkColumn(incremental, columns, isOrderedAlike);
  const value = column.rule.type === 'VARCHAR' ? `${column.alias}::text COLLATE "C"` : column.alias;
  return windowOf(
    context,
    incremental,
    column.alias,
    (operator, watermark) => `${value} ${operator} ${literal(watermark)}`,
  );
}

/** What the source reads, as SQL. */
export function queryOf({ query, table }: PostgresSourceSpec): string {
  return query === undefined
    ? `SELECT * FROM ${tableName(table ?? '').quoted}`
    : withoutSemicolon(query, STANDARD_QUOTES);
}

/**
 * Columns of a query. The extended protocol takes one statement only, so a query cannot smuggle in a second one; text
 * that passes here has no semicolon outside quotes and is safe in COPY, which knows only the simple protocol.
 */
export async function describeFields(client: Client, query: string): Promise<FieldDef[]> {
  const { fields } = await client.query({
    text: `SELECT * FROM (${query}\n) AS source LIMIT 0`,
    queryMode: 'extended',
  } as { text: string });
  assertDistinctNames(fields);
  return fields;
}

async function describeColumns(context: TaskContext, client: Client, query: string): Promise<SourceColumn[]> {
  const fields = await describeFields(client, query);
  const arrays = await arrayElements(client, fields);
  const columns = fields.map((field, index) => ({
    name: field.name,
    alias: `c${index}`,
    oid: field.dataTypeID,
    rule: readRule(field.dataTypeID, arrays.has(field.dataTypeID)),
  }));
  return withDecimals(context, client, query, fields, columns);
}

function assertDistinctNames(fields: readonly FieldDef[]): void {
  if (fields.length === 0) throw new EngineError('SOURCE', 'The query has no columns.');
  const seen = new Set<string>();
  for (const { name } of fields) {
    const folded = name.toLowerCase();
    if (seen.has(folded))
      throw new EngineError(
        'SOURCE',
        `Two columns of the query are named "${name}" (case aside): give one an alias.`,
      );
    seen.add(folded);
  }
}

/** Types of elements by the types of arrays among the fields. */
export async function arrayElements(
  client: Client,
  fields: readonly FieldDef[],
): Promise<ReadonlyMap<number, number>> {
  const { rows } = await client.query<{ oid: string; element: string }>(
    `SELECT oid::int8 AS oid, typelem::int8 AS element FROM pg_type
     WHERE oid = ANY($1::oid[]) AND typcategory = 'A'`,
    [fields.map(({ dataTypeID }) => dataTypeID)],
  );
  return new Map(rows.map(({ oid, element }) => [Number(oid), Number(element)]));
}

/** `numeric` without a precision may hold any number of digits, so those columns are measured first. */
async function withDecimals(
  context: TaskContext,
  client: Client,
  query: string,
  fields: readonly FieldDef[],
  columns: SourceColumn[],
): Promise<SourceColumn[]> {
  const unmeasured: SourceColumn[] = [];
  for (const [index, column] of columns.entries()) {
    const field = fields[index];
    if (field?.dataTypeID !== NUMERIC_OID) continue;
    const declared = declaredDecimal(field.dataTypeModifier);
    if (declared) column.rule = { type: `DECIMAL(${declared.precision},${declared.scale})` };
    else unmeasured.push(column);
  }
  if (unmeasured.length === 0) return columns;
  const measures = unmeasured.flatMap(({ alias }) => [
    `coalesce(max(scale(${alias})), 0) AS ${alias}_scale`,
    `coalesce(max(length(trunc(abs(${alias}))::text)), 1) AS ${alias}_digits`,
    `coalesce(bool_or(${alias}::text IN ('NaN', 'Infinity', '-Infinity')), false) AS ${alias}_special`,
  ]);
  const { rows } = await client.query(`SELECT ${measures.join(', ')} FROM ${derived(query, columns)}`);
  for (const column of unmeasured) {
    const scale = Number(rows[0]?.[`${column.alias}_scale`]);
    const digits = Number(rows[0]?.[`${column.alias}_digits`]);
    if (scale + digits <= MAX_PRECISION && rows[0]?.[`${column.alias}_special`] === false) {
      // Up to 18 digits DuckDB calculates in 64 bits, beyond that in 128.
      column.rule = { type: `DECIMAL(${scale + digits <= 18 ? 18 : MAX_PRECISION},${scale})` };
      continue;
    }
    column.rule = { type: 'VARCHAR' };
    context.log(
      'WARN',
      `${context.task.id}: column "${column.name}" holds numbers beyond ${MAX_PRECISION} digits, NaN or infinity; it is read as text.`,
    );
  }
  return columns;
}

function derived(query: string, columns: readonly SourceColumn[]): string {
  return `(${query}\n) AS source(${columns.map(({ alias }) => alias).join(', ')})`;
}
