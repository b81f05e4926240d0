import { createHash } from 'node:crypto';
import {
  link,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { flush } from './batch/durable-file.js';

/**
 * Which workspace wrote which of the server's files: a directory with a note for each file, named by the hash of where
 * it lies. Notes lie on the disk because the engine's processes have no database. A file without a note was put there
 * by the operator: everybody reads it, and nobody writes it.
 */
export interface FileOwners {
  /** Absolute; made when missing. */
  directory: string;
  /** On whose behalf files are read and written. */
  workspaceId: string;
}

interface Note {
  /** Of the file: from DATA_DIR, or absolute where it lies elsewhere. */
  place: string;
  workspaceId: string;
}

/** A note is written or renewed ahead of its file, by a task that does not take as long as this. */
const STALE_MS = 8 * 24 * 3_600_000;
const NOTE_NAME = /^[0-9a-f]{64}$/;

/** Whether the workspace may read the file. @param file its real path */
export async function mayRead(owners: FileOwners | undefined, file: string): Promise<boolean> {
  if (!owners) return true;
  const note = await read(noteOf(owners, await placeOf(owners.directory, file)));
  return note === undefined || note.workspaceId === owners.workspaceId;
}

/**
 * Makes the file the workspace's, before it is written; false when it is another's, or the operator's.
 * @param file its real path
 */
export async function claimFile(owners: FileOwners | undefined, file: string): Promise<boolean> {
  if (!owners) return true;
  const place = await placeOf(owners.directory, file);
  const note = noteOf(owners, place);
  for (;;) {
    // In this order: whoever made the file meanwhile had noted it before.
    const wasThere = await isThere(file);
    const known = await read(note);
    if (known ? known.workspaceId !== owners.workspaceId : wasThere) return false;
    if (await (known ? renew(note) : take(owners, note, place))) return true;
  }
}

/** False when another was first. */
async function take({ directory, workspaceId }: FileOwners, note: string, place: string): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const written = `${note}.${process.pid}.${performance.now()}`;
  await writeFile(written, JSON.stringify({ place, workspaceId } satisfies Note), { flush: true });
  try {
    // A link is there whole or not at all, and only the first of two is made.
    await link(written, note);
    await flush(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(written, { force: true });
  }
}

/** False when it was forgotten meanwhile. */
async function renew(note: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(note, now, now);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return false;
  }
}

/** Forgets who owned files that are gone; returns how many. */
export async function forgetGoneFiles(directory: string, now: Date): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const home = await homeOf(directory);
  let gone = 0;
  for (const name of names) {
    const file = path.join(directory, name);
    if (!(await isStale(file, now))) continue;
    // Of other names are those that a killed process left.
    const note = NOTE_NAME.test(name) ? await read(file) : undefined;
    if (note && (await isThere(path.resolve(home, note.place)))) continue;
    if (await forget(file, now)) gone += 1;
  }
  return gone;
}

/** Unless it is renewed at this very moment: it is moved away first, so that whoever comes later notes the file anew. */
async function forget(file: string, now: Date): Promise<boolean> {
  const aside = `${file}.gone`;
  await rename(file, aside);
  const isForgotten = await isStale(aside, now);
  if (!isForgotten) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
  return isForgotten;
}

async function isStale(file: string, now: Date): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && now.getTime() - found.mtimeMs >= STALE_MS;
}

function noteOf({ directory }: FileOwners, place: string): string {
  return path.join(directory, createHash('sha256').update(place).digest('hex'));
}

/** DATA_DIR may be moved as a whole, so what lies in it is named from there. */
async function placeOf(directory: string, file: string): Promise<string> {
  const fromHome = path.relative(await homeOf(directory), file);
  return fromHome.startsWith('..') || path.isAbsolute(fromHome) ? file : fromHome;
}

function homeOf(directory: string): Promise<string> {
  const home = path.dirname(directory);
  return realpath(home).catch(() => home);
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
