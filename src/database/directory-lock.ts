import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

export interface DirectoryLock {
  close(): void;
}

/**
 * One server per DATA_DIR. Node has no file locks of its own; SQLite's exclusive transaction is one that the kernel
 * gives back whichever way the process ends, so there is no stale lock to guess about.
 *
 * @throws when another process holds it
 */
export function lockDirectory(directory: string): DirectoryLock {
  const database = new DatabaseSync(path.join(directory, 'postgres.lock'));
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      throw new Error(
        `${directory} is in use by another server. Stop that one, or set DATA_DIR to another directory.`,
        { cause: error },
      );
    }
    throw error;
  }
  return { close: () => database.close() };
}
