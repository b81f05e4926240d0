// The data engine against DuckDB called directly, in one run:  npm run build && node bench/engine/batch.ts [rows=10000000]
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { importSource } from '../../scripts/import-source.ts';

const { BatchEngine } = await importSource<typeof import('../../src/engines/batch/batch-engine.js')>(
  'src/engines/batch/batch-engine.ts',
);
type TaskSpec = import('../../src/engines/task-spec.js').TaskSpec;
type EngineTask = import('../../src/engines/engine.js').EngineTask;
type GraphTask = import('../../src/engines/engine.js').GraphTask;

const TASKS = 40;
const TASK_TARGET_MS = 30;
const ROUNDS = 7;
const THREADS = 2;
const MEMORY_MB = 1_000;
const rows = Number(process.argv[2] ?? 10_000_000);
const directory = await mkdtemp(join(tmpdir(), 'opsgraph-bench-'));
const hooks = { signal: new AbortController().signal, log() {} };

const FILTER = "SELECT * FROM orders WHERE amount > 20 AND country <> 'c7'";
const JOIN = 'SELECT day, name, amount FROM kept JOIN countries USING (country)';
const AGGREGATE = 'SELECT day, name, count(*) AS n, sum(amount) AS amount FROM named GROUP BY day, name';

const openSession = (name: string, tasks: readonly EngineTask[] = []) =>
  new BatchEngine().open({
    runId: name,
    tasks,
    runDirectory: join(directory, name),
    memoryLimitMb: MEMORY_MB,
    threads: THREADS,
    filesBase: directory,
    filesRoots: [directory],
    maskKey: '00'.repeat(32),
    resolveConnection: () => Promise.reject(new Error('No connection is needed.')),
  });

async function overhead(): Promise<void> {
  const session = await openSession('overhead');
  await session.execute(
    { id: 't0', inputs: [], spec: { kind: 'source', type: 'inline', rows: [{ a: 1 }] } },
    hooks,
  );
  const times: number[] = [];
  for (let task = 1; task <= TASKS; task += 1) {
    const start = performance.now();
    const previous = `t${task - 1}`;
    const spec: TaskSpec = { kind: 'transformation', type: 'sql', sql: `SELECT a + 1 AS a FROM ${previous}` };
    await session.execute({ id: `t${task}`, inputs: [previous], spec }, hooks);
    times.push(performance.now() - start);
  }
  await session.close();
  const sorted = times.toSorted((a, b) => a - b);
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  console.log(
    `${TASKS} sequential tasks: ${mean.toFixed(1)} ms each, median ${sorted[TASKS / 2]?.toFixed(1)}, ` +
      `worst ${sorted.at(-1)?.toFixed(1)}; ${(mean / TASK_TARGET_MS).toFixed(2)} of the ${TASK_TARGET_MS} ms allowed`,
  );
}

function statement(round: number): string {
  return `COPY (WITH orders AS (FROM read_csv('${directory}/orders.csv')),
      countries AS (FROM read_csv('${directory}/countries.csv')), kept AS (${FILTER}), named AS (${JOIN}) ${AGGREGATE})
    TO '${directory}/direct-${round}.parquet' (FORMAT parquet, COMPRESSION zstd)`;
}

/** In a new process, as the engine's is: one that has run the statement before has its memory at hand, some 50 ms. */
async function directInNewProcess(round: number): Promise<number> {
  const script = join(import.meta.dirname, 'direct.ts');
  const parameters = [script, statement(round), String(MEMORY_MB), String(THREADS)];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  return Number(stdout);
}

async function direct(round: number): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${MEMORY_MB}MB`,
    threads: String(THREADS),
  });
  const connection = await instance.connect();
  const start = performance.now();
  await connection.run(statement(round));
  const time = performance.now() - start;
  connection.closeSync();
  instance.closeSync();
  return time;
}

/** As a run has it: what is planned as one is carried out as one. */
async function pipeline(round: number): Promise<number> {
  const task = (id: string, inputs: string[], spec: TaskSpec): GraphTask => ({
    id,
    inputs,
    dependsOn: inputs,
    spec,
  });
  const tasks = new BatchEngine().plan([
    task('orders', [], { kind: 'source', type: 'file', path: 'orders.csv', format: 'csv' }),
    task('countries', [], { kind: 'source', type: 'file', path: 'countries.csv', format: 'csv' }),
    task('kept', ['orders'], { kind: 'transformation', type: 'sql', sql: FILTER }),
    task('named', ['kept', 'countries'], { kind: 'transformation', type: 'sql', sql: JOIN }),
    task('sums', ['named'], { kind: 'transformation', type: 'sql', sql: AGGREGATE }),
    task('out', ['sums'], {
      kind: 'target',
      type: 'file',
      path: `engine-${round}.parquet`,
      format: 'parquet',
      mode: 'OVERWRITE',
    }),
  ]);
  const session = await openSession(`pipeline-${round}`, tasks);
  const start = performance.now();
  for (const unit of tasks) await session.execute(unit, hooks);
  const time = performance.now() - start;
  await session.close();
  return time;
}

async function throughput(): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`COPY (SELECT i AS id, DATE '2026-01-01' + (i % 90)::INTEGER AS day, 'c' || (i % 11) AS country,
    ((i * 7919) % 100000) / 100 AS amount FROM range(${rows}) t(i)) TO '${directory}/orders.csv'`);
  await connection.run(
    `COPY (SELECT 'c' || i AS country, 'Country ' || i AS name FROM range(11) t(i)) TO '${directory}/countries.csv'`,
  );
  connection.closeSync();
  instance.closeSync();
  const ratios: Record<string, number[]> = { 'in a new process': [], 'in a warm process': [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const fresh = await directInNewProcess(round);
    const warm = await direct(round);
    const engine = await pipeline(round);
    ratios['in a new process']?.push(engine / fresh);
    ratios['in a warm process']?.push(engine / warm);
    console.log(
      `round ${round + 1}: DuckDB directly ${fresh.toFixed(0)} ms (warm ${warm.toFixed(0)} ms), the engine ${engine.toFixed(0)} ms`,
    );
  }
  for (const [where, found] of Object.entries(ratios)) {
    const median = found.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
    console.log(
      `${rows} rows, CSV -> filter, join, aggregate -> Parquet: ${median?.toFixed(2)} x DuckDB called directly ${where} (target 1.1)`,
    );
  }
}

try {
  await overhead();
  await throughput();
} finally {
  await rm(directory, { recursive: true, force: true });
}
