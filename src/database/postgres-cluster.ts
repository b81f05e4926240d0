import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { PostgresBinaries } from './postgres-binaries.js';
import { canReach, type ServerAccount } from './server-account.js';

export const SUPERUSER = 'opsgraph';

/** A data folder and how to reach it. */
export interface PostgresCluster {
  directory: string;
  password: string;
  /** uid, gid and working directory that initdb and postgres are spawned with, and what they get as -D. */
  spawnOptions: { cwd: string; uid?: number; gid?: number };
  dataArgument: string;
}

export function clusterDirectory(dataDir: string): string {
  return path.join(dataDir, 'postgres');
}

/**
 * Opens the data folder of DATA_DIR, or makes it. A new one is made under another name and renamed when complete, so that
 * a start interrupted in the middle leaves nothing that looks finished.
 *
 * @throws when the folder was written by another major version, or its password file is gone
 */
export async function openCluster(
  dataDir: string,
  binaries: PostgresBinaries,
  account: ServerAccount | undefined,
  durable: boolean,
): Promise<PostgresCluster> {
  const directory = clusterDirectory(dataDir);
  const version = await readText(path.join(directory, 'PG_VERSION'));
  if (version !== undefined && version !== binaries.majorVersion) {
    throw new Error(
      `${directory} was written by PostgreSQL ${version}, and this installation brings PostgreSQL ${binaries.majorVersion}. Move the data over with pg_dump and the old version, or set DATA_DIR to another directory.`,
    );
  }
  const passwordFile = path.join(dataDir, 'postgres.password');
  if (version === undefined) {
    await createCluster(directory, passwordFile, binaries, account, durable);
  }
  const password = await readText(passwordFile);
  if (password === undefined) {
    throw new Error(
      `${passwordFile} is missing, and without it nobody can log in to the database beside it.`,
    );
  }
  return { directory, password, ...(await reach(directory, account)) };
}

async function createCluster(
  directory: string,
  passwordFile: string,
  binaries: PostgresBinaries,
  account: ServerAccount | undefined,
  durable: boolean,
): Promise<void> {
  const draft = `${directory}.draft`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await rm(passwordFile, { force: true });
  await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flush: true });
  if (account) {
    await chown(draft, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  const { spawnOptions, dataArgument } = await reach(draft, account);
  const passwordHandle = await open(passwordFile);
  try {
    const child = spawn(
      binaries.initdb,
      [
        `--pgdata=${dataArgument}`,
        `--username=${SUPERUSER}`,
        '--pwfile=/dev/fd/3',
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // The provider inside the server: the same order and case rules on every operating system.
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        ...(durable ? [] : ['--no-sync']),
      ],
      { ...spawnOptions, stdio: ['ignore', 'ignore', 'pipe', passwordHandle.fd], env: serverEnvironment() },
    );
    const exit = new Promise<number | null>((resolve, reject) =>
      child.on('error', reject).on('close', resolve),
    );
    const [code, complaint] = await Promise.all([exit, child.stderr ? text(child.stderr) : '']);
    if (code !== 0) throw new Error(`initdb could not make ${directory}: ${complaint.trim()}`);
  } finally {
    await passwordHandle.close();
    if (account) await chown(passwordFile, 0, 0);
  }
  await rename(draft, directory);
}

/**
 * As root, with DATA_DIR below a directory of mode 0700, the server's account cannot walk to its own data folder. A
 * process may stand in a directory it could not have walked to, and Linux has a name for where a process stands: node
 * enters the folder before it becomes the other user (libuv: chdir before setuid), and the server gets that name.
 */
async function reach(
  directory: string,
  account: ServerAccount | undefined,
): Promise<Pick<PostgresCluster, 'spawnOptions' | 'dataArgument'>> {
  const real = await realpath(directory);
  const spawnOptions = { cwd: real, ...account };
  if (account === undefined || (await canReach(account, real))) return { spawnOptions, dataArgument: real };
  if (process.platform === 'linux') return { spawnOptions, dataArgument: '/proc/self/cwd' };
  throw new Error(
    `PostgreSQL does not run as root, and the user it runs as (uid ${account.uid}) cannot reach ${real}. Set DATA_DIR to a directory it may enter, or start as an ordinary user.`,
  );
}

/** Nothing of ours: PGDATA, PGPORT, LC_ALL and their like would change what the server does. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
