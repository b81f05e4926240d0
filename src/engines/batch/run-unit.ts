import type { DuckDBConnection } from '@duckdb/node-api';
import type { EngineTask, TaskOutcome, WithinOutcome } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { FileSourceSpec } from '../task-spec.js';
import { toEngineError } from './classify-error.js';
import { countedCopy, countRows, type PlanNode, scannedRows } from './counted-copy.js';
import { readerInDialect } from './csv-dialect.js';
import { isReadInPlace } from './plan-units.js';
import { exactly, exactSelection, resultOf, type Selection, saveResult } from './run-files.js';
import { countReferences } from './select-only.js';
import { sourceFiles } from './source-files.js';
import { identifier } from './sql-text.js';
import { type TaskContext, withDuckDb } from './task-context.js';
import { fileReader, runFileSource } from './tasks/file-source.js';
import { transformationSelect } from './transformations/transformation-select.js';

interface SourceInPlace {
  taskId: string;
  spec: FileSourceSpec;
  files: readonly string[];
}

/** What has been put on the unit's connection so far. */
interface Bound {
  /** The inner tasks and the one they are within. */
  unit: readonly EngineTask[];
  ids: Set<string>;
  sources: SourceInPlace[];
  /** Sources whose views are stand-ins with the same columns and no rows, and what is to stand there. */
  closed: Map<string, string>;
  outcomes: Record<string, WithinOutcome>;
}

/**
 * Carries out a transformation and the tasks within it as one statement: each inner task becomes a view under its id,
 * so that only the last result is written. An error names the inner task it can be traced to.
 *
 * Whatever binds a view over a CSV looks at a sample of the file again (10 ms and more each), so the steps are bound over
 * stand-ins, and the files come in their place at the end.
 */
export function runUnit(context: TaskContext): Promise<TaskOutcome> {
  const { task } = context;
  const within = task.within ?? [];
  return withDuckDb(context, 'sandbox', async (connection) => {
    const bound: Bound = {
      unit: [...within, task],
      ids: new Set(),
      sources: [],
      closed: new Map(),
      outcomes: {},
    };
    for (const inner of within) {
      await bindInner({ ...context, task: inner }, connection, bound).catch((error: unknown) => {
        throw traced(error, inner);
      });
    }
    const { select } = await transformationSelect(context, connection, bound.ids);
    await openSources(connection, bound);
    let plan: PlanNode = {};
    const saved = await saveResult(context, connection, select, async (...copy) => {
      const counted = await countedCopy(...copy);
      plan = counted.plan;
      return counted.rows;
    }).catch((error: unknown) => {
      throw traced(error, brokenSource(error, bound));
    });
    await countSources(connection, bound, plan);
    const ids = within.map(({ id }) => id).join(', ');
    context.log('INFO', `${task.id}: ${saved.rows} rows, computed together with ${ids}`);
    return { ...saved, within: bound.outcomes };
  });
}

async function bindInner(context: TaskContext, connection: DuckDBConnection, bound: Bound): Promise<void> {
  const { id, spec } = context.task;
  const { select, columns, standIn }: Selection & { standIn?: string } = isReadInPlace(spec)
    ? await readInPlace(context, connection, spec, bound)
    : await transformationSelect(context, connection, bound.ids);
  // What is read twice would be computed twice, and need not give the same rows.
  if (await isReadTwice(connection, id, bound.unit)) {
    await openSources(connection, bound);
    await connection.run(`CREATE TEMP TABLE ${identifier(id)} AS ${select}`);
  } else {
    await connection.run(`CREATE TEMP VIEW ${identifier(id)} AS ${standIn ?? select}`);
    if (standIn !== undefined) bound.closed.set(id, select);
  }
  bound.ids.add(id);
  bound.outcomes[id] ??= { columns };
}

/** The files themselves, or, where the sandbox may not read them, a copy made by the loader. */
async function readInPlace(
  context: TaskContext,
  connection: DuckDBConnection,
  spec: FileSourceSpec,
  { sources, outcomes }: Bound,
): Promise<Selection & { standIn?: string }> {
  const { id } = context.task;
  const files = await sourceFiles(spec, context.options);
  if (!context.instances.canReadInPlace(files)) {
    const { rows, columns = [] } = await runFileSource(context, spec);
    outcomes[id] = { rows, columns };
    return { select: `FROM ${resultOf(context, id)}`, columns: [...columns] };
  }
  sources.push({ taskId: id, spec, files });
  const { select, columns } = await filesSelection(connection, spec, files);
  const nulls = columns.map(({ name, type }) => `NULL::${type} AS ${identifier(name)}`);
  return { select, columns, standIn: `SELECT ${nulls.join(', ')} WHERE false` };
}

async function filesSelection(
  connection: DuckDBConnection,
  spec: FileSourceSpec,
  files: readonly string[],
): Promise<Selection> {
  const [first = '', ...others] = files;
  if (spec.format !== 'csv' || others.length > 0) return exactSelection(connection, fileReader(spec, files));
  const { reader, columns } = await readerInDialect(connection, spec, first);
  return exactly(reader, columns);
}

/** Puts the sources where their stand-ins are. */
async function openSources(connection: DuckDBConnection, { closed }: Bound): Promise<void> {
  for (const [id, select] of closed)
    await connection.run(`CREATE OR REPLACE TEMP VIEW ${identifier(id)} AS ${select}`);
  closed.clear();
}

async function isReadTwice(
  connection: DuckDBConnection,
  id: string,
  unit: readonly EngineTask[],
): Promise<boolean> {
  const reader = unit.find(({ inputs }) => inputs.includes(id));
  if (reader?.spec.kind !== 'transformation' || reader.spec.type !== 'sql') return false;
  return (await countReferences(connection, reader.spec.sql, id)) > 1;
}

async function countSources(connection: DuckDBConnection, bound: Bound, plan: PlanNode): Promise<void> {
  for (const { taskId, spec, files } of bound.sources) {
    const [first = ''] = files;
    // A Parquet scan leaves out what a filter above it does not want, but its files say how many rows they have.
    const rows =
      spec.format === 'parquet'
        ? await countRows(connection, fileReader(spec, files))
        : scannedRows(plan, first);
    const { columns } = bound.outcomes[taskId] ?? { columns: [] };
    bound.outcomes[taskId] = { columns, ...(rows !== undefined && { rows }) };
  }
}

/** DuckDB names the file in which it found what it could not read. */
function brokenSource(error: unknown, { unit, sources }: Bound): EngineTask | undefined {
  const message = error instanceof Error ? error.message : '';
  const source = sources.find(({ files }) => files.some((file) => message.includes(file)));
  return unit.find(({ id }) => id === source?.taskId);
}

function traced(error: unknown, task: EngineTask | undefined): unknown {
  if (task === undefined) return error;
  const { kind, message, transient } = toEngineError(error, task.spec.kind === 'source' ? 'SOURCE' : 'SQL');
  return new EngineError(kind, message, { transient, taskId: task.id, cause: error });
}
