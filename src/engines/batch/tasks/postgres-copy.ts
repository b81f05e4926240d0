import { pipeline } from 'node:stream/promises';
import type { Client, FieldDef } from 'pg';
import copyStreams, { type CopyStreamQuery } from 'pg-copy-streams';
import type { EngineTask, ResultColumn, TaskOutcome } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import type { PostgresSourceSpec, PostgresTargetSpec } from '../../task-spec.js';
import { toEngineError } from '../classify-error.js';
import { claimLoad, committedRows, prepareLoadRecords, recordLoadedRows } from '../load-record.js';
import { withPostgres } from '../postgres-client.js';
import { hasOneText, readRule } from '../postgres-types.js';
import { identifier } from '../sql-text.js';
import { type TableName, tableName } from '../table-name.js';
import type { TaskContext } from '../task-context.js';
import { arrayElements, describeFields, queryOf, runPostgresSource } from './postgres-source.js';
import { runPostgresTarget } from './postgres-target.js';

interface Copied {
  columns: readonly ResultColumn[];
  rows: number;
  bytes?: number;
}

/**
 * A source and the APPEND target that alone reads it: rows go from one server to the other as they come, in one
 * transaction of the target, when the target has each column with the source's own type. Otherwise, and where the
 * target has to be made or widened, they go by way of the run's directory as everything else does.
 */
export async function runPostgresCopy(context: TaskContext, spec: PostgresTargetSpec): Promise<TaskOutcome> {
  const [inner] = context.task.within ?? [];
  if (inner?.spec.kind !== 'source' || inner.spec.type !== 'postgres')
    throw new Error(`Target ${context.task.id} has no source of type postgres within it.`);
  const source = { ...context, task: inner, connection: context.connections[inner.id] };
  const copied = await copyAcross(context, spec, source, inner.spec);
  if (!copied) return byTheRunDirectory(context, spec, source, inner.spec);
  const { rows, bytes, columns } = copied;
  context.log('INFO', `${context.task.id}: ${rows} rows from ${inner.id} to ${spec.table} (APPEND)`);
  return {
    rows,
    ...(bytes !== undefined && { bytes }),
    output: spec.table,
    columns,
    within: { [inner.id]: { rows, columns } },
  };
}

async function byTheRunDirectory(
  context: TaskContext,
  spec: PostgresTargetSpec,
  source: TaskContext,
  sourceSpec: PostgresSourceSpec,
): Promise<TaskOutcome> {
  const read = await runPostgresSource(source, sourceSpec).catch((error: unknown) => {
    throw traced(error, source.task);
  });
  const written = await runPostgresTarget(context, spec);
  return { ...written, within: { [source.task.id]: { rows: read.rows, columns: read.columns ?? [] } } };
}

/** Undefined when the rows cannot go straight into the table. */
function copyAcross(
  context: TaskContext,
  spec: PostgresTargetSpec,
  source: TaskContext,
  sourceSpec: PostgresSourceSpec,
): Promise<Copied | undefined> {
  const { runId } = context.options;
  const table = tableName(spec.table);
  return withPostgres(context, async (target) => {
    await prepareLoadRecords(target);
    let isReadable = false;
    const reading = withPostgres(source, async (client): Promise<Copied | undefined> => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const fields = await describeFields(client, queryOf(sourceSpec));
      const arrays = await arrayElements(client, fields);
      isReadable = true;
      const columns = fields.map(({ name, dataTypeID: type }) => ({
        name,
        type: readRule(type, arrays.has(type)).type,
      }));
      const earlier = await committedRows(target, runId, context.task.id);
      if (earlier !== undefined) return { columns, rows: earlier };
      const haveOneText = fields.every(({ dataTypeID: type }) => hasOneText(arrays.get(type) ?? type));
      if (!haveOneText || !(await hasSameColumns(target, table, fields))) return undefined;
      return load(context, target, table, columns, (into) => stream(source, client, sourceSpec, into));
    });
    return reading.catch((error: unknown) => {
      throw isReadable ? error : traced(error, source.task);
    });
  });
}

async function load(
  { task, options }: TaskContext,
  target: Client,
  table: TableName,
  columns: readonly ResultColumn[],
  fill: (into: CopyStreamQuery) => Promise<number>,
): Promise<Copied> {
  await target.query('BEGIN');
  try {
    if (!(await claimLoad(target, options.runId, task.id, 0))) {
      await target.query('ROLLBACK');
      return { columns, rows: (await committedRows(target, options.runId, task.id)) ?? 0 };
    }
    const list = columns.map(({ name }) => identifier(name)).join(', ');
    const into = target.query(
      copyStreams.from(`COPY ${table.quoted} (${list}) FROM STDIN WITH (FORMAT text, ENCODING 'UTF8')`),
    );
    const bytes = await fill(into);
    await recordLoadedRows(target, options.runId, task.id, into.rowCount);
    await target.query('COMMIT');
    return { columns, rows: into.rowCount, bytes };
  } catch (error) {
    await target.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** @returns how many bytes there were */
async function stream(
  { task, signal }: TaskContext,
  source: Client,
  spec: PostgresSourceSpec,
  into: CopyStreamQuery,
): Promise<number> {
  const from = source.query(
    copyStreams.to(`COPY (${queryOf(spec)}\n) TO STDOUT WITH (FORMAT text, ENCODING 'UTF8')`),
  );
  let bytes = 0;
  let isBroken: boolean | undefined;
  from.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  from.once('error', () => {
    isBroken ??= true;
  });
  into.once('error', () => {
    isBroken ??= false;
  });
  await pipeline(from, into, { signal }).catch((error: unknown) => {
    throw isBroken ? traced(error, task) : error;
  });
  return bytes;
}

/** Whether each column is there, of the same type. */
async function hasSameColumns(
  target: Client,
  table: TableName,
  fields: readonly FieldDef[],
): Promise<boolean> {
  const { rows } = await target.query<{ name: string; type: string }>(
    `SELECT attname AS name, atttypid::int8 AS type FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [table.quoted],
  );
  const types = new Map(rows.map(({ name, type }) => [name, Number(type)]));
  return fields.every(({ name, dataTypeID }) => types.get(name) === dataTypeID);
}

function traced(error: unknown, task: EngineTask): EngineError {
  const { kind, message, transient } = toEngineError(error, 'SOURCE');
  return new EngineError(kind, message, { transient, taskId: task.id, cause: error });
}
