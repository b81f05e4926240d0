// Forty tasks one after the other, a thousand side by side, a hundred runs at once, and what GET /runs/{id} takes meanwhile:  npm run build && node bench/runs.ts [runs=100] [split]
// The whole server is a process of its own, or, split, one that answers and one that works; a thread of this one asks it 50 times a second.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { importSource } from '../scripts/import-source.ts';
import type { Asked, Asking } from './support/ask-at-rate.ts';

const { startEmbeddedPostgres } = await importSource<typeof import('../src/database/embedded-postgres.js')>(
  'src/database/embedded-postgres.ts',
);

const RUNS = Number(process.argv[2] ?? 100);
const isSplit = process.argv[3] === 'split';
const PIPELINES = 5;
const ROWS = 200;
const PER_SECOND = 50;
const IDLE_SECONDS = 10;
const TARGET = 2;
const TASK_TARGET_MS = 30;

const directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-bench-'));
const postgres = await startEmbeddedPostgres({
  dataDir: path.join(directory, 'postgres'),
  log: pino({ level: 'silent' }),
});
const databaseOf = (name: string) => Object.assign(new URL(postgres.url), { pathname: `/${name}` });

const admin = new Client({ connectionString: postgres.url });
await admin.connect();
await admin.query('CREATE DATABASE warehouse');
await admin.end();
const warehouse = new Client({ connectionString: databaseOf('warehouse').href });
await warehouse.connect();

/** Started as `npm start` does it; resolves when it is ready. Given in the environment: JOB_CONCURRENCY, RUN_CONCURRENCY_PER_PIPELINE, ... */
async function serve(role: string): Promise<{ url: string; end(): Promise<void> }> {
  const server = spawn(
    process.execPath,
    ['--v8-pool-size=2', path.resolve(import.meta.dirname, '../dist/server.js')],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        PORT: '0',
        ROLE: role,
        DATA_DIR: path.join(directory, 'data'),
        DATABASE_URL: postgres.url,
        SEED: 'demo',
        RATE_LIMIT_DISABLED: 'true',
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(JOB|RUN)_/.test(name))),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const url = await new Promise<string>((resolve) => {
    createInterface(server.stdout).on('line', (line) => {
      const record = JSON.parse(line) as { msg?: string; url?: string };
      if (record.msg === 'ready' && record.url) resolve(record.url);
    });
  });
  const end = async () => {
    const exited = once(server, 'exit');
    server.kill('SIGTERM');
    await exited;
  };
  return { url, end };
}

const server = await serve(isSplit ? 'api' : 'all');
const worker = isSplit ? await serve('worker') : undefined;
const { url } = server;
const issued = await fetch(`${url}/oidc/token`, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'demo-engineer',
    client_secret: 'opsgraph-demo',
  }),
});
const { access_token: token } = (await issued.json()) as { access_token: string };

async function call<Body>(method: string, where: string, body?: object): Promise<Body> {
  const response = await fetch(`${url}/api/v1${where}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

async function preparePipelines(): Promise<string[]> {
  const { hostname, port, username, password } = databaseOf('warehouse');
  await call('POST', '/connections', {
    name: 'warehouse',
    type: 'postgres',
    config: { host: hostname, port: Number(port), database: 'warehouse' },
    credentials: { username: decodeURIComponent(username), password: decodeURIComponent(password) },
  });
  const rows = Array.from({ length: ROWS }, (_, id) => ({ id, amount: id * 1.5 }));
  const ids: string[] = [];
  for (let n = 0; n < PIPELINES; n += 1) {
    await warehouse.query(`CREATE TABLE public.sales_${n} (id bigint, total double precision)`);
    const yamlDefinition = JSON.stringify({
      apiVersion: 'v1',
      name: `sales_${n}`,
      source: { id: 'read', type: 'inline', rows },
      transformations: [
        {
          id: 'sums',
          type: 'sql',
          inputs: ['read'],
          sql: 'SELECT id, sum(amount) AS total FROM read GROUP BY id',
        },
      ],
      target: {
        id: 'mart',
        type: 'postgres',
        connection: 'warehouse',
        table: `public.sales_${n}`,
        mode: 'APPEND',
      },
    });
    ids.push((await call<{ id: string }>('POST', '/pipelines', { name: `sales_${n}`, yamlDefinition })).id);
  }
  return ids;
}

/** Asks for a run by a thread that does nothing else, from the moment this resolves until `end` is called. */
async function ask(runId: string): Promise<{ end(): Promise<Asked[]> }> {
  const workerData: Asking = { url: `${url}/api/v1/runs/${runId}`, token, perSecond: PER_SECOND };
  const thread = new Worker(path.join(import.meta.dirname, 'support/ask-at-rate.ts'), { workerData });
  await once(thread, 'message');
  const end = async () => {
    thread.postMessage('over');
    const [answered] = (await once(thread, 'message')) as [Asked[]];
    return answered;
  };
  return { end };
}

async function askFor(seconds: number, runId: string): Promise<Asked[]> {
  const asking = await ask(runId);
  await delay(seconds * 1_000);
  return asking.end();
}

/** Prints the quantiles and returns the p99. */
function report(name: string, asked: readonly Asked[]): number {
  const times = asked.map(({ took }) => took);
  const [p50, p99, most] = [quantile(times, 0.5), quantile(times, 0.99), Math.max(...times)];
  console.log(
    `GET /runs/{id} ${name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${most.toFixed(1)} ms (${times.length} requests)`,
  );
  return p99;
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN;
}

async function ended(runIds: readonly string[]): Promise<Map<string, number>> {
  for (const status of ['PENDING', 'RUNNING'])
    while ((await call<unknown[]>('GET', `/runs?status=${status}&limit=1`)).length > 0) await delay(200);
  const runs = await call<{ runId: string; overallStatus: string }[]>('GET', '/runs?limit=1000');
  const statuses = new Map(runs.map(({ runId, overallStatus }) => [runId, overallStatus]));
  const byStatus = Map.groupBy(runIds, (id) => statuses.get(id) ?? 'lost');
  return new Map([...byStatus].map(([status, ids]) => [status, ids.length]));
}

const TRIVIAL_TASKS: Record<string, (n: number) => object> = {
  'sequential tasks, each on its own': (n) => ({ ...follows(`t${n}`), timeout: 'PT1M' }),
  'sequential tasks, as units': (n) => follows(`t${n}`),
  'parallel tasks': () => follows('t0'),
};

const follows = (input: string) => ({ inputs: [input], sql: `SELECT a + 1 AS a FROM ${input}` });

/** From the request to the end of a run of trivial tasks. Milliseconds, the median of some rounds. */
async function timeTasks(kind: string, count: number, rounds: number): Promise<number> {
  const yamlDefinition = JSON.stringify({
    apiVersion: 'v1',
    name: 'tasks',
    source: { id: 't0', type: 'inline', rows: [{ a: 1 }] },
    transformations: Array.from({ length: count - 2 }, (_, n) => ({
      ...{ id: `t${n + 1}`, type: 'sql' },
      ...TRIVIAL_TASKS[kind]?.(n),
    })),
    target: { id: 'out', type: 'file', path: `${kind}.csv`, mode: 'OVERWRITE' },
  });
  const { id } = await call<{ id: string }>('POST', '/pipelines', { name: kind, yamlDefinition });
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const { runId } = await call<{ runId: string }>('POST', `/pipelines/${id}/run`);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/runs/${runId}/stream?after=0`, {
      headers: { authorization: `Bearer ${token}` },
    });
    socket.on('message', () => undefined);
    await once(socket, 'close');
    times.push(performance.now() - began);
    const { overallStatus } = await call<{ overallStatus: string }>('GET', `/runs/${runId}`);
    if (overallStatus !== 'COMPLETED') throw new Error(`${kind} ended as ${overallStatus}`);
  }
  return quantile(times, 0.5);
}

try {
  const pipelines = await preparePipelines();
  const start = async (n: number) =>
    (await call<{ runId: string }>('POST', `/pipelines/${pipelines[n % PIPELINES]}/run`)).runId;
  const warm = await start(0);
  await ended([warm]);
  await askFor(2, warm);

  for (const [kind, count] of [
    ['sequential tasks, each on its own', 40],
    ['sequential tasks, as units', 40],
    ['parallel tasks', 1_000],
  ] as const) {
    const took = await timeTasks(kind, count, 5);
    console.log(
      `${count} ${kind}, from POST to COMPLETED: ${took.toFixed(0)} ms (target ${count * TASK_TARGET_MS})`,
    );
  }

  const idle = await askFor(IDLE_SECONDS, warm);
  const asking = await ask(warm);
  const began = Date.now();
  const runIds = await Promise.all(Array.from({ length: RUNS }, (_, n) => start(n)));
  const accepted = Date.now();
  const statuses = await ended(runIds);
  const over = Date.now();
  const asked = await asking.end();

  console.log(
    `${RUNS} runs accepted in ${accepted - began} ms, over in ${((over - began) / 1_000).toFixed(1)} s:`,
    Object.fromEntries(statuses),
  );
  const idleP99 = report('idle', idle);
  report(
    'while they are accepted',
    asked.filter(({ at }) => at <= accepted),
  );
  report(
    'once they are',
    asked.filter(({ at }) => at > accepted),
  );
  const ratio = report('from the first POST to the last end', asked) / idleP99;
  console.log(`p99 is ${ratio.toFixed(2)} x idle (target ${TARGET})`);
  let rows = 0;
  for (let n = 0; n < PIPELINES; n += 1) {
    const { rows: counted } = await warehouse.query(`SELECT count(*)::int AS n FROM public.sales_${n}`);
    rows += counted[0].n;
  }
  console.log(`${rows} rows written, ${(RUNS + 1) * ROWS} expected`);
} finally {
  await worker?.end();
  await server.end();
  await warehouse.end();
  await postgres.close();
  await rm(directory, { recursive: true, force: true });
}
