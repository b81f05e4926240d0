// A thousand tasks that wait for nothing, eight at a time as a run has them:  npm run build && node bench/engine/parallel.ts [tasks=1000]
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importSource } from '../../scripts/import-source.ts';

const { BatchEngine } = await importSource<typeof import('../../src/engines/batch/batch-engine.js')>(
  'src/engines/batch/batch-engine.ts',
);
type EngineTask = import('../../src/engines/engine.js').EngineTask;

const TASKS = Number(process.argv[2] ?? 1_000);
/** PARALLEL_UNITS of src/domain/runs/run-tasks.ts. */
const AT_ONCE = 8;
const SEQUENTIAL_TARGET_MS = 30;

const directory = await mkdtemp(join(tmpdir(), 'opsgraph-bench-'));
const hooks = { signal: new AbortController().signal, log() {} };
const session = await new BatchEngine().open({
  runId: 'parallel',
  runDirectory: join(directory, 'run'),
  memoryLimitMb: 1_000,
  threads: 2,
  filesBase: directory,
  filesRoots: [directory],
  maskKey: '00'.repeat(32),
  resolveConnection: () => Promise.reject(new Error('No connection is needed.')),
});

/** Resident memory of the engine's process at its highest, in MB. Linux only. */
async function peakMemory(): Promise<string> {
  // The engine's process names a directory after itself.
  const names = await readdir(join(directory, 'run'));
  const pid = names.find((name) => name.startsWith('.spill-'))?.slice('.spill-'.length);
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]);
  return Number.isNaN(kilobytes) ? 'unknown' : `${Math.round(kilobytes / 1_024)} MB`;
}

try {
  await session.execute(
    { id: 'source', inputs: [], spec: { kind: 'source', type: 'inline', rows: [{ a: 1 }] } },
    hooks,
  );
  const waiting = Array.from(
    { length: TASKS },
    (_, n): EngineTask => ({
      id: `t${n}`,
      inputs: ['source'],
      spec: { kind: 'transformation', type: 'sql', sql: `SELECT a + ${n} AS a FROM source` },
    }),
  );
  const start = performance.now();
  const worker = async () => {
    for (let task = waiting.shift(); task; task = waiting.shift()) await session.execute(task, hooks);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const took = performance.now() - start;
  console.log(
    `${TASKS} parallel tasks: ${(took / 1_000).toFixed(2)} s, ${(took / TASKS).toFixed(1)} ms each, ` +
      `${(took / TASKS / SEQUENTIAL_TARGET_MS).toFixed(2)} of the ${SEQUENTIAL_TARGET_MS} ms that a sequential one may take; ` +
      `peak memory of the engine's process ${await peakMemory()}`,
  );
} finally {
  await session.close();
  await rm(directory, { recursive: true, force: true });
}
