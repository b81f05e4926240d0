import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const POLL_MS = 20;
const FAST_SHUTDOWN_MS = 5_000;
const IMMEDIATE_SHUTDOWN_MS = 2_000;

/**
 * When only the process that started it was killed, a server goes on running over its data folder. The caller holds the
 * lock of the directory, so whatever still runs there has lost its owner: it is shut down properly.
 *
 * @returns how many processes had to go
 */
export async function stopOrphanedServer(clusterDir: string): Promise<number> {
  const postmaster = await readPostmasterPid(clusterDir);
  if (postmaster === undefined) return 0;
  const directory = await realpath(clusterDir);
  const found = await findProcesses(directory, postmaster);
  for (const [signal, patience] of shutdownSteps) {
    const running = await findProcesses(directory, postmaster);
    if (running.length === 0) break;
    // Without its postmaster a backend ends by itself as soon as it notices; only the last step helps it along.
    const targets = running.includes(postmaster) ? [postmaster] : signal === 'SIGKILL' ? running : [];
    for (const pid of targets) sendSignal(pid, signal);
    await waitUntilGone(directory, postmaster, patience);
  }
  // The number in the file may by now belong to any process, and PostgreSQL would refuse to start beside it.
  await rm(path.join(clusterDir, 'postmaster.pid'), { force: true });
  return found.length;
}

/** Shutdown modes of PostgreSQL: SIGINT is fast, SIGQUIT immediate (recovered from the log at the next start). */
const shutdownSteps: [NodeJS.Signals, number][] = [
  ['SIGINT', FAST_SHUTDOWN_MS],
  ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
];

async function waitUntilGone(directory: string, postmaster: number, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    if ((await findProcesses(directory, postmaster)).length === 0) return;
    // Not a child of ours: the system tells nobody but its parent when it ends.
    await delay(POLL_MS);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

async function readPostmasterPid(clusterDir: string): Promise<number | undefined> {
  const content = await readFile(path.join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(content, 10);
  return pid > 0 ? pid : undefined;
}

function findProcesses(directory: string, postmaster: number): Promise<number[]> {
  return process.platform === 'linux' ? findByDirectory(directory) : findByCommand(directory, postmaster);
}

/** Every PostgreSQL process works inside its data folder, orphaned backends included. */
async function findByDirectory(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const checks = pids.map(async (pid) => {
    const place = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    if (place !== directory) return false;
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    return name.trim() === 'postgres';
  });
  const matches = await Promise.all(checks);
  return pids.filter((_, index) => matches[index]);
}

async function findByCommand(directory: string, postmaster: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(postmaster)]).catch(
    () => ({
      stdout: '',
    }),
  );
  return stdout.includes('postgres') && stdout.includes(directory) ? [postmaster] : [];
}
