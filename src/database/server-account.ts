import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ACCOUNTS = ['postgres', 'nobody'];

/** The user PostgreSQL runs as where it cannot run as ours. */
export interface ServerAccount {
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root. An existing cluster keeps its owner; a new one goes to the system's postgres user,
 * or else to nobody (initdb needs a user with a name, so an invented number does not do).
 *
 * @returns undefined when we are not root and the server runs as ourselves
 */
export async function findServerAccount(clusterDir: string): Promise<ServerAccount | undefined> {
  const self = process.getuid?.();
  const owner = await stat(clusterDir).catch(() => undefined);
  if (self !== 0) {
    if (self !== undefined && owner !== undefined && owner.uid !== self) {
      throw new Error(
        `${clusterDir} belongs to another user (uid ${owner.uid}). Start as that user or as root, or set DATA_DIR to another directory.`,
      );
    }
    return undefined;
  }
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ACCOUNTS) {
    const account = await lookUp(name);
    if (account) return account;
  }
  throw new Error(
    `PostgreSQL does not run as root, and this system has none of the users ${ACCOUNTS.join(', ')}. Start as an ordinary user, or set DATABASE_URL.`,
  );
}

async function lookUp(name: string): Promise<ServerAccount | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/** Asks the kernel by trying: modes, ACLs and mounts of every directory above count. */
export async function canReach(account: ServerAccount, place: string): Promise<boolean> {
  try {
    await run('/bin/sh', ['-c', 'test -r "$0" && test -x "$0"', place], { ...account, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}
