import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { type PostgresCluster, serverEnvironment } from './postgres-cluster.js';

const FAST_SHUTDOWN_MS = 5_000;
const IMMEDIATE_SHUTDOWN_MS = 2_000;
const COMPLAINT_LINES = 10;

export interface Postmaster {
  readonly pid: number;
  /** Settles when the process has ended, whoever ended it. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

/** Between our look for a free port and the server's use of it, another process was faster. */
export class PortTaken extends Error {}

const ourSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  cluster_name: 'opsgraph',
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '200',
  // LOG and worse only. An error of a statement reaches whoever sent it; in the log its values might be secrets.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
};

/** @throws PortTaken, or an Error with what the server complained about when it did not come up */
export async function startPostmaster(
  executable: string,
  cluster: PostgresCluster,
  port: number,
  settings: Record<string, string>,
  log: Logger | undefined,
): Promise<Postmaster> {
  const all = { ...ourSettings, ...settings, port: String(port) };
  const child = spawn(
    executable,
    [
      '-D',
      cluster.dataArgument,
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    // A session of its own: Ctrl-C in the terminal goes to us alone, and we still need the database to finish.
    {
      ...cluster.spawnOptions,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: serverEnvironment(),
    },
  );
  endWithThisProcess(child, cluster);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  await readiness(child, log);
  return { pid: child.pid ?? 0, exited, stop: () => stop(child, exited) };
}

/**
 * A process that is killed cannot stop its server. This shell reads from a pipe that the kernel closes with us, however we
 * end, and then asks the server for a fast shutdown; what it misses is found at the next start (orphaned-server.ts).
 */
function endWithThisProcess(server: ChildProcess, cluster: PostgresCluster): void {
  if (server.pid === undefined) return;
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$0"', String(server.pid)], {
    ...cluster.spawnOptions,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => {});
  guard.unref();
  server.once('exit', () => guard.kill());
}

function readiness(child: ChildProcess, log: Logger | undefined): Promise<void> {
  const complaint: string[] = [];
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new Error(`PostgreSQL could not be started: ${cause.message}`, { cause })),
    );
    child.once('close', (code) => {
      const text = complaint.join(' ');
      if (text.includes('Address already in use')) reject(new PortTaken(text));
      else reject(new Error(`PostgreSQL ended with code ${code} while starting: ${text}`));
    });
    if (!child.stderr) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      log?.debug({ server: 'postgres' }, line);
      complaint.push(line);
      if (complaint.length > COMPLAINT_LINES) complaint.shift();
      if (line.includes('database system is ready to accept connections')) resolve();
    });
  });
}

/** Fast first; a server that hangs gets the immediate shutdown, which the next start recovers from. */
async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
  ];
  for (const [signal, patienceMs] of steps) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    if (await settlesWithin(exited, patienceMs)) return;
  }
}

async function settlesWithin(event: Promise<void>, patienceMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMs);
  });
  try {
    return await Promise.race([event.then(() => true), patience]);
  } finally {
    clearTimeout(timer);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port');
  return address.port;
}
