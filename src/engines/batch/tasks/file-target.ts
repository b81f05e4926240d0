import { constants, copyFile, mkdir, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { TaskOutcome } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import type { FileTargetSpec } from '../../task-spec.js';
import { rulesOf } from '../connected-files.js';
import { countRows } from '../counted-copy.js';
import { writeDurably } from '../durable-file.js';
import { compressionOf, isTabSeparated } from '../file-ending.js';
import { claimPath, type FileRules, writablePath } from '../file-paths.js';
import { copyTo, describeColumns, inputOf, inputPath, withScratchFile } from '../run-files.js';
import { type S3Target, uploadObject } from '../s3-files.js';
import { type TaskContext, withDuckDb } from '../task-context.js';

/** DuckDB is told what the name's ending says: it does not see the name, since a file is written under another first. */
function copyOptions(format: FileTargetSpec['format'], name: string): string {
  if (format === 'parquet') return 'FORMAT parquet, COMPRESSION zstd';
  const compression = `COMPRESSION ${compressionOf(name) ?? 'none'}`;
  if (format === 'ndjson') return `FORMAT json, ${compression}`;
  return `FORMAT csv, HEADER true, DELIMITER ${isTabSeparated(name) ? "'\\t'" : "','"}, ${compression}`;
}

/**
 * OVERWRITE replaces one file in a single step. APPEND adds a part to a directory; the part is named by run and
 * task, so that a repeated task replaces its own part.
 */
export async function runFileTarget(context: TaskContext, spec: FileTargetSpec): Promise<TaskOutcome> {
  const target = context.connection;
  if (spec.connection !== undefined && target?.type !== 'file')
    throw new EngineError('CONNECTION', `Task ${context.task.id} needs a connection of type file.`);
  const outcome =
    target?.type === 'file' && target.storage === 's3'
      ? await writeObject(context, spec, target)
      : await writeFile(
          context,
          spec,
          target?.type === 'file' ? rulesOf(target.root, context) : context.options,
        );
  context.log('INFO', `${context.task.id}: ${outcome.rows} rows to ${spec.path}`);
  return outcome;
}

async function writeFile(context: TaskContext, spec: FileTargetSpec, rules: FileRules): Promise<TaskOutcome> {
  const file = await fileToWrite(context, spec, rules);
  if (spec.format === 'parquet') return copyResult(context, file);
  return withDuckDb(context, 'loader', async (connection) => {
    let rows = 0;
    const bytes = await writeDurably(file, async (path) => {
      rows = await copyTo(connection, `FROM ${inputOf(context)}`, path, copyOptions(spec.format, file));
    });
    return { rows, bytes, output: file, columns: await describeColumns(connection, inputOf(context)) };
  });
}

/** A result is Parquet already, compressed and divided as a target's is. */
async function copyResult(context: TaskContext, file: string): Promise<TaskOutcome> {
  const bytes = await writeDurably(file, (path) =>
    copyFile(inputPath(context), path, constants.COPYFILE_FICLONE),
  );
  return withDuckDb(context, 'sandbox', async (connection) => ({
    rows: await countRows(connection, inputOf(context)),
    bytes,
    output: file,
    columns: await describeColumns(connection, inputOf(context)),
  }));
}

/** Written whole on this machine first, since an object cannot be mended. */
function writeObject(context: TaskContext, spec: FileTargetSpec, target: S3Target): Promise<TaskOutcome> {
  for (const other of rivals(context, spec)) {
    const isSame =
      other.spec.connection !== undefined && posix.normalize(other.spec.path) === posix.normalize(spec.path);
    if (isSame) throw sameFile(spec, other.id);
  }
  const path = spec.mode === 'OVERWRITE' ? spec.path : `${spec.path}/${partName(context, spec)}`;
  return withScratchFile(context, spec.format, async (file) => {
    const written = await withDuckDb(context, 'sandbox', async (connection) => ({
      rows: await copyTo(connection, `FROM ${inputOf(context)}`, file, copyOptions(spec.format, path)),
      columns: await describeColumns(connection, inputOf(context)),
    }));
    const { size } = await stat(file);
    return { ...written, bytes: size, output: await uploadObject(context, target, path, file) };
  });
}

function partName({ options, task }: TaskContext, { format }: FileTargetSpec): string {
  return `${options.runId}-${task.id}.${format}`;
}

/** The file, which is the workspace's own by then. Of what lies at the path nothing is told before it is known whose it is. */
async function fileToWrite(context: TaskContext, spec: FileTargetSpec, rules: FileRules): Promise<string> {
  const path = await writablePath(spec.path, rules);
  const existing = await stat(path).catch(() => undefined);
  if (spec.mode === 'OVERWRITE') {
    await assertOnlyTarget(context, spec, rules, path);
    await claimPath(path, spec.path, rules);
    if (!existing || existing.isFile()) return path;
    throw new EngineError(
      'TARGET',
      `"${spec.path}" is a directory (of a target with mode APPEND?); OVERWRITE replaces one file.`,
    );
  }
  if (existing && !existing.isDirectory()) {
    await claimPath(path, spec.path, rules);
    throw new EngineError('TARGET', `"${spec.path}" is a file; mode APPEND adds part files to a directory.`);
  }
  await mkdir(path, { recursive: true });
  const part = join(path, partName(context, spec));
  await claimPath(part, spec.path, rules);
  return part;
}

interface FileTarget {
  id: string;
  spec: FileTargetSpec;
}

/** Other targets of the definition that replace one file, where it is known what their paths start from. */
function rivals(
  { options: { tasks = [] }, task }: TaskContext,
  { mode, connection }: FileTargetSpec,
): FileTarget[] {
  if (mode !== 'OVERWRITE') return [];
  return tasks.flatMap(({ id, spec }) =>
    id !== task.id &&
    spec.kind === 'target' &&
    spec.type === 'file' &&
    spec.mode === 'OVERWRITE' &&
    (spec.connection === undefined || spec.connection === connection)
      ? [{ id, spec }]
      : [],
  );
}

/** Throws EngineError TARGET when another target of the definition replaces the same file, whatever it calls it. */
async function assertOnlyTarget(
  context: TaskContext,
  spec: FileTargetSpec,
  rules: FileRules,
  file: string,
): Promise<void> {
  for (const other of rivals(context, spec)) {
    const theirs = other.spec.connection === undefined ? context.options : rules;
    // A path that is refused is the other target's own failure.
    const path = await writablePath(other.spec.path, theirs).catch(() => undefined);
    if (path === file) throw sameFile(spec, other.id);
  }
}

function sameFile({ path }: FileTargetSpec, other: string): EngineError {
  return new EngineError('TARGET', `"${path}" is the file of the target ${other} too: each needs its own.`);
}
