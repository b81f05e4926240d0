import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../../src/database/postmaster.js';

/** False where Redis is not installed: what needs it is then left out, and says so. */
export function hasRedis(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write('No redis-server on this machine: the tests of the Redis store are left out.\n');
    return false;
  }
}

export interface RedisServer {
  readonly url: string;
  /** The process stands still: it accepts connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** Again on the same port, with nothing in it. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** A Redis of its own, on loopback, that keeps nothing. */
export async function startRedis(): Promise<RedisServer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-redis-'));
  const port = await freePort();
  let process: ChildProcess | undefined;

  async function start(): Promise<void> {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory];
    const started = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    process = started;
    for await (const line of createInterface({ input: started.stdout })) {
      if (line.includes('Ready to accept connections')) break;
    }
    started.stdout.resume();
  }

  async function stop(): Promise<void> {
    if (!process) return;
    const gone = once(process, 'exit');
    process.kill('SIGKILL');
    await gone;
    process = undefined;
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    freeze: () => void process?.kill('SIGSTOP'),
    thaw: () => void process?.kill('SIGCONT'),
    start,
    stop,
    async close() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
