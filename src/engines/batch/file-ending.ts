/** How a file is compressed, by its name's ending; undefined when it is not. */
export function compressionOf(name: string): 'gzip' | 'zstd' | undefined {
  if (/\.gz$/i.test(name)) return 'gzip';
  return /\.zst$/i.test(name) ? 'zstd' : undefined;
}

/** Whether the fields of a CSV file stand between tabs, by its name's ending. */
export function isTabSeparated(name: string): boolean {
  return /\.tsv(\.gz|\.zst)?$/i.test(name);
}

/** The option of DuckDB's readers that says how files are compressed, which it tells by endings in small letters alone. */
export function compressionOption(files: readonly string[]): { compression?: string } {
  const [first, ...others] = new Set(files.map(compressionOf));
  return first !== undefined && others.length === 0 ? { compression: `'${first}'` } : {};
}
