import type { FileFormat } from '../../../engines/task-spec.js';

const ENDINGS: readonly { pattern: RegExp; format: FileFormat }[] = [
  { pattern: /\.(csv|tsv)(\.gz|\.zst)?$/i, format: 'csv' },
  { pattern: /\.json(\.gz|\.zst)?$/i, format: 'json' },
  { pattern: /\.(ndjson|jsonl)(\.gz|\.zst)?$/i, format: 'ndjson' },
  { pattern: /\.parquet$/i, format: 'parquet' },
];

/** The format a file task names, or the one its path ends with. */
export function fileFormat({ format, path }: Readonly<Record<string, unknown>>): FileFormat | undefined {
  if (typeof format === 'string') return format as FileFormat;
  return ENDINGS.find(({ pattern }) => pattern.test(String(path)))?.format;
}
