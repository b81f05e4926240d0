import { createHash } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Which workspace wrote which of the server's files: a directory with a note for each file, named by the hash of its
 * real path. Notes lie on the disk because the engine's processes have no database. A file without a note was put there
 * by the operator and is everybody's.
 */
export interface FileOwners {
  /** Absolute; made when missing. */
  directory: string;
  /** On whose behalf files are read and written. */
  workspaceId: string;
}

interface Note {
  path: string;
  workspaceId: string;
}

/** A note that is written ahead of its file is never older than the task that writes it. */
const STALE_MS = 8 * 24 * 3_600_000;

/** Whether the workspace may read the file. @param file its real path */
export async function mayRead(owners: FileOwners | undefined, file: string): Promise<boolean> {
  if (!owners) return true;
  const note = await read(noteOf(owners, file));
  return note === undefined || note.workspaceId === owners.workspaceId;
}

/** Makes the file the workspace's, before it is written; false when it is another's. @param file its real path */
export async function claimFile(owners: FileOwners | undefined, file: string): Promise<boolean> {
  if (!owners) return true;
  const note = noteOf(owners, file);
  const { workspaceId } = owners;
  await mkdir(owners.directory, { recursive: true, mode: 0o700 });
  const written = `${note}.${process.pid}.${performance.now()}`;
  await writeFile(written, JSON.stringify({ path: file, workspaceId } satisfies Note), { flush: true });
  try {
    // A link is there whole or not at all, and only the first of two is made.
    await link(written, note);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await read(note))?.workspaceId === workspaceId;
  } finally {
    await rm(written, { force: true });
  }
}

/** Forgets who owned files that are gone; returns how many. */
export async function forgetGoneFiles(directory: string, now: Date): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  let gone = 0;
  for (const name of names) {
    const file = path.join(directory, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (now.getTime() - mtimeMs < STALE_MS) continue;
    const note = await read(file);
    if (note && (await isThere(note.path))) continue;
    await rm(file, { force: true });
    gone += 1;
  }
  return gone;
}

function noteOf({ directory }: FileOwners, file: string): string {
  return path.join(directory, createHash('sha256').update(file).digest('hex'));
}

async function read(file: string): Promise<Note | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Note;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}
