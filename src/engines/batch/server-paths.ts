import { realpathSync } from 'node:fs';
import type { ConnectionTarget } from '../engine.js';

/** The directories of a run that mean nothing to who reads its errors and logs. */
export interface ServerDirectories {
  runDirectory: string;
  filesBase: string;
  connections: Readonly<Record<string, ConnectionTarget>>;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** What writeDurably and withScratchFile add to a file's name. */
const TEMPORARY_NAME = new RegExp(`(^|/)\\.([^/]+)\\.${UUID}\\.tmp$`);
const SCRATCH_NAME = new RegExp(`\\.${UUID}(?=\\.)`);
/** Where DuckDB quotes one of the engine's own statements, often with half a path; no SQL of an author has these. */
const OWN_STATEMENT =
  /\n+LINE \d+: .*(?:\bCOPY \(|\b(?:read_(?:csv|json|parquet)|sniff_csv|parquet_metadata)\(|\bhive_partitioning\b).*\n *\^/g;

/**
 * A message with paths as a definition writes them: from the files directory or the connection's root, and of what lies
 * in the run's directory the name alone.
 */
export function withoutServerPaths(message: string, directories: ServerDirectories): string {
  const { runDirectory, filesBase, connections } = directories;
  const roots = Object.values(connections).flatMap((target) =>
    target.type === 'file' && target.storage === 'local' ? [target.root] : [],
  );
  const run = replacePaths(message.replace(OWN_STATEMENT, ''), runDirectory, "the run's directory", (path) =>
    path.replace(/^.*\//, '').replace(TEMPORARY_NAME, '$2').replace(SCRATCH_NAME, ''),
  );
  // The longest first: one may lie in another.
  return [filesBase, ...roots]
    .flatMap((directory) => [directory, real(directory)])
    .sort((a, b) => b.length - a.length)
    .reduce(
      (text, directory) =>
        replacePaths(text, directory, 'the files directory', (path) => path.replace(TEMPORARY_NAME, '$1$2')),
      run,
    );
}

function replacePaths(
  message: string,
  directory: string,
  itself: string,
  shown: (path: string) => string,
): string {
  const plain = directory.replace(/\/+$/, '');
  if (!message.includes(plain) || plain === '') return message;
  const literally = plain.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const paths = new RegExp(`(?<![\\w./-])${literally}(?:/([^\\s"']*)|(?![\\w.-]))`, 'g');
  return message.replace(paths, (_, path?: string) => (path ? shown(path) : itself));
}

function real(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}
