// PostgreSQL to PostgreSQL, against \copy of psql piped into \copy of psql, in one run:  npm run build && node bench/engine/copy.ts [rows=2000000]
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { pino } from 'pino';
import { importSource } from '../../scripts/import-source.ts';

if (spawnSync('psql', ['--version']).error) {
  console.error('This bench measures against psql, and no program of that name is on PATH.');
  process.exit(1);
}

const { BatchEngine } = await importSource<typeof import('../../src/engines/batch/batch-engine.js')>(
  'src/engines/batch/batch-engine.ts',
);
const { startEmbeddedPostgres } = await importSource<
  typeof import('../../src/database/embedded-postgres.js')
>('src/database/embedded-postgres.ts');
type PostgresConnectionTarget = import('../../src/engines/engine.js').PostgresConnectionTarget;

const ROUNDS = 5;
const TARGET = 1.5;
const rows = Number(process.argv[2] ?? 2_000_000);
const directory = await mkdtemp(join(tmpdir(), 'opsgraph-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir: directory, log: pino({ level: 'silent' }) });
const url = new URL(postgres.url);

const connection = (database: string): PostgresConnectionTarget => ({
  type: 'postgres',
  host: url.hostname,
  port: Number(url.port),
  database,
  user: decodeURIComponent(url.username),
  password: decodeURIComponent(url.password),
});

async function query(database: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(connection(database));
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const COLUMNS =
  'id bigint, customer integer, country text, amount numeric(12,2), ordered_at timestamptz, note text, paid boolean';

async function makeDatabases(): Promise<void> {
  await query('postgres', 'CREATE DATABASE shop');
  await query('postgres', 'CREATE DATABASE lake');
  await query('shop', `CREATE TABLE public.orders (${COLUMNS})`);
  await query(
    'shop',
    `INSERT INTO public.orders SELECT i, i % 9973, 'c' || i % 11, (i::bigint * 7919 % 100000) / 100.0, now() - i * interval '1 s',
     md5(i::text), i % 3 = 0 FROM generate_series(1, ${rows}) AS i`,
  );
  await query('shop', 'VACUUM ANALYZE public.orders');
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  await query(
    'lake',
    `DROP TABLE IF EXISTS public.orders; CREATE TABLE public.orders (${COLUMNS}); CHECKPOINT`,
  );
  const start = performance.now();
  await work();
  const time = performance.now() - start;
  const [counted] = await query('lake', 'SELECT count(*)::int AS n FROM public.orders');
  if (counted?.['n'] !== rows) throw new Error(`${counted?.['n']} rows arrived, not ${rows}`);
  return time;
}

function psql(): Promise<unknown> {
  const of = (database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  const out = `psql -X '${of('shop')}' -c '\\copy public.orders to stdout'`;
  const into = `psql -X '${of('lake')}' -c '\\copy public.orders from stdin'`;
  return promisify(execFile)('bash', ['-c', `set -o pipefail; ${out} | ${into}`]);
}

async function engine(round: number, isFused: boolean): Promise<void> {
  const tasks = new BatchEngine().plan([
    {
      ...{ id: 'orders', inputs: [], dependsOn: [], alone: !isFused },
      spec: { kind: 'source', type: 'postgres', connection: 'shop', table: 'public.orders' },
    },
    {
      ...{ id: 'copy', inputs: ['orders'], dependsOn: ['orders'] },
      spec: { kind: 'target', type: 'postgres', connection: 'lake', table: 'public.orders', mode: 'APPEND' },
    },
  ]);
  const session = await new BatchEngine().open({
    runId: `round-${round}-${isFused}`,
    tasks,
    runDirectory: join(directory, `run-${round}-${isFused}`),
    memoryLimitMb: 1_000,
    threads: 2,
    filesBase: directory,
    filesRoots: [directory],
    maskKey: '00'.repeat(32),
    resolveConnection: async (name) => connection(name),
  });
  for (const task of tasks) await session.execute(task, { signal: new AbortController().signal, log() {} });
  await session.close();
}

try {
  await makeDatabases();
  const ratios: Record<string, number[]> = { 'straight across': [], 'by way of Parquet': [] };
  for (let round = 1; round <= ROUNDS; round += 1) {
    const piped = await timed(psql);
    const across = await timed(() => engine(round, true));
    const stored = await timed(() => engine(round, false));
    ratios['straight across']?.push(across / piped);
    ratios['by way of Parquet']?.push(stored / piped);
    console.log(
      `round ${round}: psql ${piped.toFixed(0)} ms, straight across ${across.toFixed(0)} ms, by way of Parquet ${stored.toFixed(0)} ms`,
    );
  }
  for (const [way, found] of Object.entries(ratios)) {
    const median = found.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
    console.log(`${rows} rows, ${way}: ${median?.toFixed(2)} x psql piped (target ${TARGET})`);
  }
} finally {
  await postgres.close();
  await rm(directory, { recursive: true, force: true });
}
