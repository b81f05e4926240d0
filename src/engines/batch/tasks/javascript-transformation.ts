import { type FileHandle, open } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { TaskOutcome } from '../../engine.js';
import type { JavascriptTransformationSpec } from '../../task-spec.js';
import { type Returned, returnedRows } from '../javascript/returned-rows.js';
import { kindOfRow, rowsAsJson, typedColumns } from '../javascript/row-transport.js';
import { SandboxThread } from '../javascript/sandbox-thread.js';
import { exactSelect, resultOf, saveResult, withScratchFile } from '../run-files.js';
import { identifier } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { onlyInput } from '../transformations/relation.js';

/** What the interpreter is given at once; it holds several copies within its memory limit. */
const BATCH_CHARACTERS = 1024 * 1024;

/** Each row goes through the author's function, in order; the rows it returns wait on disk until they become Parquet. */
export function runJavascriptTransformation(
  context: TaskContext,
  spec: JavascriptTransformationSpec,
): Promise<TaskOutcome> {
  const { task } = context;
  return withScratchFile(context, 'ndjson', (path) =>
    withDuckDb(context, 'sandbox', async (connection) => {
      const [id = ''] = task.inputs;
      await connection.run(`CREATE TEMP VIEW ${identifier(id)} AS FROM ${resultOf(context, id)}`);
      const { name } = await onlyInput(context, connection);
      const input = { name, columns: await typedColumns(connection, identifier(name)) };
      const select = rowsAsJson(identifier(name), input.columns);
      const sandbox = await SandboxThread.start(
        { code: spec.code, columns: input.columns.map((each) => each.name), kind: kindOfRow(input.columns) },
        context.signal,
      );
      const file = await open(path, 'wx', 0o600);
      let returned: Returned;
      try {
        returned = await transformAll(context, connection, select, sandbox, file);
      } finally {
        await Promise.all([file.close(), sandbox.close()]);
      }
      const view = identifier(`result of ${task.id}`);
      const result = await returnedRows(connection, path, returned, input, spec.columns);
      await connection.run(`CREATE TEMP VIEW ${view} AS ${result}`);
      const saved = await saveResult(context, connection, await exactSelect(connection, view));
      if (saved.rows !== returned.rows)
        throw new Error(`Of ${returned.rows} rows that the code returned, ${saved.rows} were read.`);
      context.log('INFO', `${task.id}: ${saved.rows} rows`);
      return saved;
    }),
  );
}

/** While the interpreter has one batch, DuckDB makes the next. */
async function transformAll(
  context: TaskContext,
  connection: DuckDBConnection,
  select: string,
  sandbox: SandboxThread,
  file: FileHandle,
): Promise<Returned> {
  let rows = 0;
  const names: string[] = [];
  const unbounded = new Set<string>();
  for await (const some of batchesOf(connection, select)) {
    const { lines, found, ...batch } = await sandbox.transform(some);
    await file.writeFile(lines);
    rows += batch.rows;
    names.push(...found.names);
    for (const name of found.unbounded) unbounded.add(name);
  }
  context.log('DEBUG', `${context.task.id}: the code returned ${rows} rows`);
  return { rows, names, unbounded };
}

async function* batchesOf(connection: DuckDBConnection, select: string): AsyncGenerator<string[]> {
  const result = await connection.stream(select);
  let batch: string[] = [];
  let characters = 0;
  for (
    let chunk = await result.fetchChunk();
    chunk && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    for (const value of chunk.getColumnValues(0)) {
      const row = String(value);
      if (batch.length > 0 && characters + row.length > BATCH_CHARACTERS) {
        yield batch;
        batch = [];
        characters = 0;
      }
      batch.push(row);
      characters += row.length;
    }
  }
  if (batch.length > 0) yield batch;
}
