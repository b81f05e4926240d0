import { lstat, opendir } from 'node:fs/promises';
import path from 'node:path';
import type { FileConnectionTarget } from '../../engines/engine.js';
import { type FileOwners, mayRead } from '../../engines/file-owners.js';
import type { FileFormat } from '../../engines/task-spec.js';
import { MAX_TABLES } from './discovered-schema.js';

type Local = Extract<FileConnectionTarget, { storage: 'local' }>;

export interface FoundFile {
  /** From the root or prefix. */
  path: string;
  format: FileFormat;
  bytes: number;
}

export interface FoundFiles {
  files: FoundFile[];
  truncated: boolean;
}

/** Entries looked at, files of other formats and directories included. */
const MAX_ENTRIES = 20_000;
const FORMATS: readonly (readonly [RegExp, FileFormat])[] = [
  [/\.(csv|tsv)(\.gz|\.zst)?$/i, 'csv'],
  [/\.json(\.gz|\.zst)?$/i, 'json'],
  [/\.(ndjson|jsonl)(\.gz|\.zst)?$/i, 'ndjson'],
  [/\.parquet$/i, 'parquet'],
];

export function formatOf(name: string): FileFormat | undefined {
  return FORMATS.find(([pattern]) => pattern.test(name))?.[1];
}

export async function probeLocal({ root }: Local): Promise<string> {
  const directory = await opendir(root);
  await directory.close();
  return 'The directory can be read.';
}

/** Files of a format that sources read, by name, as far as the workspace may read them; links are not followed. */
export async function findLocal(
  { root }: Local,
  owners: FileOwners,
  signal: AbortSignal,
): Promise<FoundFiles> {
  const files: FoundFile[] = [];
  let entries = 0;
  for await (const entry of await opendir(root, { recursive: true })) {
    signal.throwIfAborted();
    entries += 1;
    const format = entry.isFile() ? formatOf(entry.name) : undefined;
    if (format) {
      const file = path.join(entry.parentPath, entry.name);
      if (!(await mayRead(owners, file))) continue;
      const { size: bytes } = await lstat(file);
      files.push({ path: path.relative(root, file), format, bytes });
    }
    if (files.length > MAX_TABLES || entries > MAX_ENTRIES) break;
  }
  const found = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    files: found.slice(0, MAX_TABLES),
    truncated: files.length > MAX_TABLES || entries > MAX_ENTRIES,
  };
}
