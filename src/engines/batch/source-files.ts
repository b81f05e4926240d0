import type { FileFormat, FileSourceSpec } from '../task-spec.js';
import { type FileRules, readableFiles } from './file-paths.js';

const FILE_NAMES: Record<FileFormat, RegExp> = {
  csv: /\.(csv|tsv)(\.gz|\.zst)?$/i,
  json: /\.json(\.gz|\.zst)?$/i,
  ndjson: /\.(ndjson|jsonl)(\.gz|\.zst)?$/i,
  parquet: /\.parquet$/i,
};

/** The real paths of the server's own files that the source means. Throws EngineError SOURCE. */
export function sourceFiles(spec: FileSourceSpec, rules: FileRules): Promise<string[]> {
  return readableFiles(spec.path, rules, (name) => isNamedAs(spec.format, name));
}

/** Whether a file of a directory is of the format, by its name's ending. */
export function isNamedAs(format: FileFormat, name: string): boolean {
  return FILE_NAMES[format].test(name);
}
