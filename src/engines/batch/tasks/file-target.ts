import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskOutcome } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import type { FileTargetSpec } from '../../task-spec.js';
import { writeDurably } from '../durable-file.js';
import { writablePath } from '../file-paths.js';
import { copyTo, inputOf } from '../run-files.js';
import { type TaskContext, withDuckDb } from '../task-context.js';

const COPY_OPTIONS: Record<FileTargetSpec['format'], string> = {
  csv: 'FORMAT csv, HEADER true',
  ndjson: 'FORMAT json',
  parquet: 'FORMAT parquet, COMPRESSION zstd',
};

/**
 * OVERWRITE replaces one file in a single step. APPEND adds a part to a directory; the part is named by run and
 * task, so that a repeated task replaces its own part.
 */
export async function runFileTarget(context: TaskContext, spec: FileTargetSpec): Promise<TaskOutcome> {
  const { task } = context;
  const file = await fileToWrite(context, spec);
  return withDuckDb(context, 'loader', async (connection) => {
    let rows = 0;
    const bytes = await writeDurably(file, async (path) => {
      rows = await copyTo(connection, `FROM ${inputOf(context)}`, path, COPY_OPTIONS[spec.format]);
    });
    context.log('INFO', `${task.id}: ${rows} rows to ${spec.path}`);
    return { rows, bytes, output: file };
  });
}

async function fileToWrite(context: TaskContext, spec: FileTargetSpec): Promise<string> {
  const path = await writablePath(spec.path, context.options);
  const existing = await stat(path).catch(() => undefined);
  if (spec.mode === 'OVERWRITE') {
    if (existing && !existing.isFile()) {
      throw new EngineError(
        'TARGET',
        `"${spec.path}" is a directory (of a target with mode APPEND?); OVERWRITE replaces one file.`,
      );
    }
    return path;
  }
  if (existing && !existing.isDirectory()) {
    throw new EngineError('TARGET', `"${spec.path}" is a file; mode APPEND adds part files to a directory.`);
  }
  await mkdir(path, { recursive: true });
  return join(path, `${context.options.runId}-${context.task.id}.${spec.format}`);
}
