import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import autocannon from 'autocannon';
import { pino } from 'pino';
import { parseConfig } from '../../src/config.js';
import { startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import { createOrm } from '../../src/database/orm.js';
import { type DemoTenant, seedDemo } from '../../src/domain/identity/index.js';
import { createSecretBox } from '../../src/secret-box.js';

/** Modules of the two servers, each run in a process of its own. */
export interface ServerFiles {
  app: URL;
  bare: URL;
}

export interface Effort {
  rounds: number;
  seconds: number;
}

export interface Peer {
  name: string;
  request: autocannon.Options;
}

export interface Arena {
  app: string;
  bare: string;
}

export const CONNECTIONS = 16;

/** What both servers find in the database. */
export interface Filled {
  databaseUrl: string;
  orm: MikroORM;
  acme: DemoTenant;
}

/**
 * The built app and its bare peer over one database, which `fill` prepares; both are gone afterwards.
 */
export async function inArena<T>(
  files: ServerFiles,
  fill: (filled: Filled) => Promise<string[]>,
  contest: (arena: Arena) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'silent' }) });
  const children: ChildProcess[] = [];
  const start = async (file: URL, args: string[], env: NodeJS.ProcessEnv): Promise<string> => {
    const child = fork(file, args, { cwd: dataDir, env: { ...process.env, NODE_ENV: 'production', ...env } });
    children.push(child);
    return addressOf(child);
  };
  try {
    const peerArguments = await prepare(postgres.url, dataDir, fill);
    const app = await start(files.app, [], {
      DATABASE_URL: postgres.url,
      DATA_DIR: dataDir,
      PORT: '0',
      SEED: 'none',
      ROLE: 'api',
      RATE_LIMIT_DISABLED: 'true',
      DATABASE_POOL_SIZE: `${CONNECTIONS}`,
    });
    const bare = await start(files.bare, [postgres.url, `${CONNECTIONS}`, ...peerArguments], {});
    return await contest({ app, bare });
  } finally {
    await Promise.all(children.map(stop));
    await postgres.close();
    await rm(dataDir, { recursive: true });
  }
}

async function prepare(
  databaseUrl: string,
  dataDir: string,
  fill: (filled: Filled) => Promise<string[]>,
): Promise<string[]> {
  const orm = await createOrm({ databaseUrl, poolSize: 4 });
  try {
    await migrate(orm);
    const secrets = createSecretBox(parseConfig({ DATA_DIR: dataDir }, dataDir));
    const { acme } = await seedDemo({ orm, secrets, now: () => new Date() });
    const peerArguments = await fill({ databaseUrl, orm, acme });
    await orm.em.fork().execute('vacuum analyze');
    return peerArguments;
  } finally {
    await orm.close(true);
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('message', (url) => resolve(String(url)));
    child.once('exit', (code) => reject(new Error(`A server ended with exit code ${code} before it was up`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** A line per peer behind the first, with its rate as a ratio of the first one's. */
export async function compare(what: string, peers: Peer[], { rounds, seconds }: Effort): Promise<string[]> {
  const rates = new Map<Peer, number[]>(peers.map((peer) => [peer, []]));
  for (const peer of peers) await load(peer, 1);
  // Peers take turns, so that a noisy moment of the machine does not hit one of them alone.
  for (let round = 0; round < rounds; round += 1)
    for (const peer of peers) rates.get(peer)?.push(await load(peer, seconds));
  const [bare, ...ours] = peers.map((peer) => ({ name: peer.name, rate: median(rates.get(peer) ?? []) }));
  return ours.map(({ name, rate }) => {
    const ratio = (rate / (bare?.rate ?? Number.NaN)).toFixed(2);
    return `${what}, ${name} / ${bare?.name}: ${ratio} (${rate} and ${bare?.rate} requests/s)`;
  });
}

async function load({ name, request }: Peer, duration: number): Promise<number> {
  const { requests, non2xx, errors } = await autocannon({ ...request, duration, connections: CONNECTIONS });
  if (non2xx > 0 || errors > 0) throw new Error(`${name}: ${non2xx} bad answers and ${errors} errors`);
  return Math.round(requests.average);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
