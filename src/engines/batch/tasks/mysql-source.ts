import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TaskOutcome } from '../../engine.js';
import type { MysqlSourceSpec } from '../../task-spec.js';
import { type ScratchColumn, selectFromCsv } from '../csv-scratch.js';
import { type MysqlClient, withMysql } from '../mysql-client.js';
import { MYSQL_QUOTES, mysqlIdentifier, mysqlLiteral, mysqlNumber, mysqlTable } from '../mysql-text.js';
import { type MysqlField, type MysqlReadRule, mysqlReadRule } from '../mysql-types.js';
import { MAX_PRECISION } from '../postgres-types.js';
import { saveResult, withScratchFile } from '../run-files.js';
import { ScratchLimit } from '../scratch-limit.js';
import { withoutSemicolon } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { newWatermark, watermarkColumn, windowOf } from '../watermark.js';

interface SourceColumn extends ScratchColumn {
  rule: MysqlReadRule;
}

/** Rows between two reports of progress. */
const PROGRESS_EVERY = 50_000;

/**
 * Reads a table or query in one read-only snapshot: rows stream as CSV into a file of the run's directory, DuckDB
 * turns that into typed Parquet. Memory stays bounded whatever the size; the disk holds the CSV meanwhile.
 */
export function runMysqlSource(context: TaskContext, spec: MysqlSourceSpec): Promise<TaskOutcome> {
  const { task } = context;
  return withScratchFile(context, 'csv', async (csv) => {
    const columns = await withMysql(context, (client) => download(context, client, spec, csv));
    return withDuckDb(context, 'sandbox', async (connection) => {
      const saved = await saveResult(context, connection, selectFromCsv(csv, columns));
      context.log(
        'INFO',
        `${task.id}: ${saved.rows} rows from ${spec.table ?? 'a query'} of ${spec.connection}`,
      );
      return { ...saved, ...(await newWatermark(context, connection, spec.incremental)) };
    });
  });
}

async function download(
  context: TaskContext,
  client: MysqlClient,
  spec: MysqlSourceSpec,
  csv: string,
): Promise<SourceColumn[]> {
  const { query, table = '' } = spec;
  const from =
    query === undefined ? mysqlTable(table) : `(${withoutSemicolon(query, MYSQL_QUOTES)}\n) AS source`;
  await client.change('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  await client.change('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  const columns = await describe(context, client, from);
  const list = columns.map(({ name, rule }) => {
    const column = mysqlIdentifier(name);
    return rule.select?.(column) ?? column;
  });
  const sql = `SELECT ${list.join(', ')} FROM ${from}${condition(context, spec, columns)}`;
  const rows = client.raw.query({ sql, rowsAsArray: true, typeCast: false }).stream({ highWaterMark: 1_000 });
  // Of a loss while rows stream mysql2 tells the connection alone: the stream would wait for ever.
  client.raw.once('error', (error) => rows.destroy(error));
  await pipeline(
    rows,
    csvLines(context, columns),
    new ScratchLimit(context).stream(),
    createWriteStream(csv, { mode: 0o600 }),
    {
      signal: context.signal,
    },
  );
  await client.change('COMMIT');
  return columns;
}

async function describe(context: TaskContext, client: MysqlClient, from: string): Promise<SourceColumn[]> {
  const fields = await new Promise<MysqlField[]>((resolve, reject) =>
    client.raw.query(`SELECT * FROM ${from} LIMIT 0`, (error, _, found) =>
      error ? reject(error) : resolve((found ?? []) as unknown as MysqlField[]),
    ),
  );
  const columns: SourceColumn[] = [];
  for (const [index, field] of fields.entries()) {
    const rule = mysqlReadRule(field) ?? (await measuredDecimal(context, client, from, field));
    columns.push({ name: field.name, alias: `c${index}`, rule });
  }
  return columns;
}

/** A sum is declared with up to 65 digits, whatever it is: what it holds decides. */
async function measuredDecimal(
  context: TaskContext,
  client: MysqlClient,
  from: string,
  { name, decimals }: MysqlField,
): Promise<MysqlReadRule> {
  const column = mysqlIdentifier(name);
  const [found] = await client.rows<{ digits: string | number | null }>(
    `SELECT max(length(truncate(abs(${column}), 0))) AS digits FROM ${from}`,
  );
  if (Number(found?.digits ?? 1) + decimals <= MAX_PRECISION) {
    return { type: `DECIMAL(${MAX_PRECISION},${decimals})`, comparedAs: 'number' };
  }
  context.log(
    'WARN',
    `${context.task.id}: column "${name}" holds numbers beyond ${MAX_PRECISION} digits; it is read as text.`,
  );
  return { type: 'VARCHAR', comparedAs: 'number' };
}

function condition(context: TaskContext, { incremental }: MysqlSourceSpec, columns: SourceColumn[]): string {
  if (!incremental) return '';
  const found = watermarkColumn(incremental, columns, isOrderedAlike);
  const column = mysqlIdentifier(found.name);
  return windowOf(context, incremental, column, (operator, watermark) => {
    if (found.rule.comparedAs === 'number') return `${column} ${operator} ${mysqlNumber(watermark)}`;
    // The greatest value was found by DuckDB, which knows no collation.
    if (found.rule.comparedAs === 'bytes') {
      const text = mysqlLiteral(watermark);
      return `CAST(CONVERT(${column} USING utf8mb4) AS BINARY) ${operator} CAST(${text} AS BINARY)`;
    }
    return `${column} ${operator} ${mysqlLiteral(watermark.replace(/\+00$/, ''))}`;
  });
}

/** Whether DuckDB finds the same greatest value as MySQL; a FLOAT equals no literal, so its greatest would come again. */
function isOrderedAlike({ rule: { type, comparedAs } }: SourceColumn): boolean {
  return type === 'VARCHAR' ? comparedAs === 'bytes' : !['BLOB', 'JSON', 'FLOAT'].includes(type);
}

/** Rows of the server's bytes become lines, each value quoted and null not. */
function csvLines(context: TaskContext, columns: readonly SourceColumn[]): Transform {
  let count = 0;
  return new Transform({
    writableObjectMode: true,
    writableHighWaterMark: 1_000,
    readableHighWaterMark: 1 << 20,
    transform(row: readonly (Buffer | null)[], _, done) {
      count += 1;
      if (count % PROGRESS_EVERY === 0) context.progress(0, count);
      const line = columns.map(({ rule }, index) => {
        const value = row[index] ?? null;
        if (value === null) return '\\N';
        if (rule.isBinary) return `"${value.toString('hex')}"`;
        const text = value.toString('utf8');
        return `"${text.includes('"') ? text.replaceAll('"', '""') : text}"`;
      });
      done(null, `${line.join(',')}\n`);
    },
  });
}
