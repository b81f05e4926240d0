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
 * @throws when another process holds it, or the directory cannot be written
 */
export function lockDirectory(directory: string): DirectoryLock {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path.join(directory, 'postgres.lock'));
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    const held = database;
    return { close: () => held.close() };
  } catch (cause) {
    database?.close();
    const busy = cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY;
    throw new Error(
      busy
        ? `${directory} is in use by another server. Stop that one, or set DATA_DIR to another directory.`
        : `${directory} cannot be written by this user. Start as its owner, or set DATA_DIR to another directory.`,
      { cause },
    );
  }
}
