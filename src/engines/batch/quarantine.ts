import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { TaskHealing } from '../engine.js';
import { EngineError, type EngineErrorKind } from '../engine-error.js';
import type { Quarantine } from '../task-spec.js';
import { writeDurably } from './durable-file.js';
import { claimPath, writablePath } from './file-paths.js';
import { copyTo, withScratchFile } from './run-files.js';
import type { TaskContext } from './task-context.js';

export interface Rejects {
  /**
   * What may stand behind FROM, with a line for each value that does not cast: `file` (VARCHAR, null where there is none),
   * `row` (BIGINT, from 1), `column` (VARCHAR), `reason` (VARCHAR), `raw` (VARCHAR, the row as it was read).
   */
  from: string;
  /** Rows that were read, those set aside included. */
  total: number;
  quarantine: Quarantine;
  /** Of the error when there are too many. */
  kind: EngineErrorKind;
}

/**
 * Sets rows aside in `<filesBase>/quarantine/<run>/<task>.csv`, whole or not at all; nothing when there are none.
 * A repeated task replaces its own file.
 * @throws EngineError of the given kind, with the first reason, when their share is above the allowed one
 */
export async function setAside(
  context: TaskContext,
  connection: DuckDBConnection,
  rejects: Rejects,
): Promise<TaskHealing[]> {
  const { rows, columns, first } = await measure(connection, rejects.from);
  if (rows === 0) return [];
  const share = rows / rejects.total;
  const { maxShare } = rejects.quarantine;
  if (share > maxShare) {
    throw new EngineError(
      rejects.kind,
      `${rows} of ${rejects.total} rows (${percent(share)}) cannot be read as declared, more than the ${percent(maxShare)} that quarantine.maxShare allows; the first: ${first}`,
    );
  }
  const file = await save(context, connection, rejects.from);
  const reason = `${rows} of ${rejects.total} rows were set aside in ${file}: values of ${columns} cannot be read as declared.`;
  context.log('WARN', `${context.task.id}: ${reason}`);
  return [{ strategy: 'QUARANTINE', reason }];
}

async function measure(
  connection: DuckDBConnection,
  from: string,
): Promise<{ rows: number; columns: string; first: string }> {
  const found = await connection.runAndReadAll(`
    SELECT count(DISTINCT (file, row)), string_agg(DISTINCT "column", ', ' ORDER BY "column"),
      arg_min(concat_ws(', ', file, 'row ' || row, reason), (file, row)) FROM ${from}`);
  const [rows, columns, first] = found.getRows()[0] ?? [];
  return { rows: Number(rows), columns: String(columns ?? 'whole lines'), first: String(first) };
}

/** By way of the run's directory, the only one the sandbox may write to. */
async function save(context: TaskContext, connection: DuckDBConnection, from: string): Promise<string> {
  const { options, task } = context;
  const plain = join('quarantine', options.runId, `${task.id}.csv`);
  const path = await writablePath(plain, options);
  await claimPath(path, plain, options);
  await withScratchFile(context, 'csv', async (scratch) => {
    const columns = 'SELECT file, row, "column", reason, raw FROM';
    await copyTo(
      connection,
      `${columns} ${from} ORDER BY file, row, "column"`,
      scratch,
      'FORMAT csv, HEADER true',
    );
    await writeDurably(path, (temporary) => copyFile(scratch, temporary));
  });
  return plain;
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}
