import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { bundleSource } from '../../scripts/import-source.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';

const settings = { fsync: 'off' };

export interface Holder {
  child: ChildProcess;
  url: string;
  pid: number;
}

/** Servers in this process and in others, over directories of their own. */
export class EmbeddedServers {
  readonly #open: { close(): Promise<void> }[] = [];
  readonly #root: string;
  readonly #holderFile: string;

  private constructor(root: string, holderFile: string) {
    this.#root = root;
    this.#holderFile = holderFile;
  }

  static async create(): Promise<EmbeddedServers> {
    const root = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-embedded-'));
    await chmod(root, 0o755);
    return new EmbeddedServers(root, await bundleSource('test/database/hold-embedded-postgres.ts'));
  }

  async freshDirectory(name = 'data'): Promise<string> {
    return path.join(await mkdtemp(path.join(this.#root, 'case-')), name);
  }

  /** One that was started before and holds a table `kept` with `answer` 42. */
  async usedDirectory(): Promise<string> {
    const dataDir = await this.freshDirectory('with two spaces');
    const server = await startEmbeddedPostgres({ dataDir, settings });
    await query(server.url, 'create table kept as select 42 as answer');
    await server.close();
    return dataDir;
  }

  async start(dataDir: string): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ dataDir, settings });
    this.closeAtTheEnd(server);
    return server;
  }

  /** In a process of its own, which may be killed; whatever is left of it goes at the end of the test. */
  async hold(directory: string, user?: { uid: number; gid: number }): Promise<Holder> {
    const child = fork(this.#holderFile, [directory], { execArgv: [], ...user, stdio: 'inherit' });
    const exited = once(child, 'exit');
    this.closeAtTheEnd({
      close: async () => {
        child.kill('SIGTERM');
        if (child.exitCode === null && child.signalCode === null) await exited;
      },
    });
    const [answer] = await once(child, 'message');
    if (answer.error !== undefined) throw new Error(answer.error);
    return { child, ...answer };
  }

  closeAtTheEnd(resource: { close(): Promise<void> }): void {
    this.#open.push(resource);
  }

  async endTest(): Promise<void> {
    for (const resource of this.#open.splice(0).reverse()) await resource.close();
  }

  async close(): Promise<void> {
    await this.endTest();
    await rm(this.#root, { recursive: true, force: true });
    await rm(this.#holderFile, { force: true });
  }
}

export async function killed(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The shell that ends a server together with the process that started it. */
export async function killGuardOf(pid: number): Promise<void> {
  for (const other of await processes()) {
    const command = await readFile(`/proc/${other}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('kill -INT') && command.endsWith(`\0${pid}\0`)) process.kill(other, 'SIGKILL');
  }
}

export async function serversIn(directory: string): Promise<number> {
  const clusterDir = path.join(directory, 'postgres');
  const matches = (await processes()).map(async (pid) => {
    const [place, command] = await Promise.all([
      readlink(`/proc/${pid}/cwd`).catch(() => ''),
      readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    ]);
    // Only the postmaster keeps its command line; its children rename themselves.
    return place === clusterDir && command.includes('/bin/postgres');
  });
  return (await Promise.all(matches)).filter(Boolean).length;
}

async function processes(): Promise<number[]> {
  return (await readdir('/proc')).map(Number).filter(Number.isInteger);
}
