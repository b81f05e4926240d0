import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { engineProcesses } from '../engines/batch/engine-processes.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const execute = promisify(execFile);

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse({ RUN_MEMORY_LIMIT_MB: '64' });
});

afterAll(() => house.close());

const definition = (sql: string) => `
apiVersion: v1
name: scarce
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: big, type: sql, inputs: [a], sql: "${sql}" }
target: { id: t, type: file, path: scarce.parquet, mode: OVERWRITE }
`;

async function ended(runId: string) {
  await house.watch(runId, { after: 0 }).closed;
  return (await house.engineer('GET', `/api/v1/runs/${runId}`)).body;
}
const run = async (sql: string) => ended(await house.start(await house.createPipeline(definition(sql))));
const small = () => run('SELECT x FROM a');

describe('memory that does not suffice', () => {
  it('is made to suffice by smaller batches and fewer threads', async () => {
    const outcome = await run("SELECT i, repeat('x', 400) || i AS s FROM range(400000) AS r (i), a");
    expect(outcome).toMatchObject({ overallStatus: 'COMPLETED', error: null });
    expect(outcome.healing.length).toBeGreaterThan(0);
    expect(outcome.healing.at(-1)).toMatchObject({ taskId: 'big', strategy: 'SPILL', outcome: 'SUCCESS' });
  });

  it('fails the run when nothing helps, and the next one works', async () => {
    const outcome = await run('SELECT list(i) AS all_of_them FROM range(30000000) AS r (i), a');
    expect(outcome).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^big: .*memory/i),
      taskStatuses: { big: 'FAILED', t: 'UPSTREAM_FAILED' },
    });
    expect(outcome.healing.map(({ strategy }: { strategy: string }) => strategy)).toEqual(
      Array(3).fill('SPILL'),
    );
    expect((await small()).overallStatus).toBe('COMPLETED');
  });
});

/** Whether the engine's processes can be found, by way of /proc. */
function isLinux(): boolean {
  if (process.platform === 'linux') return true;
  process.stderr.write("This is not Linux: the end of one of the engine's processes is not tested here.\n");
  return false;
}

(isLinux() ? it : it.skip)(
  "a task goes on in another process when the engine's is killed",
  async () => {
    const pipelineId = await house.createPipeline(
      `${definition('SELECT count(*) AS n FROM range(2000000000) AS r (i), a WHERE i % 3 = 1')}
retry: { type: fixed, interval: PT0S, maxAttempts: 2 }
`,
    );
    const runId = await house.start(pipelineId);
    const watched = house.watch(runId);
    await watched.until(({ taskId, status }) => taskId === 'big' && status === 'RUNNING');
    const [pid] = await engineProcesses();
    if (pid === undefined) throw new Error('no process of the engine');
    process.kill(pid, 'SIGKILL');
    await watched.until(({ taskId, status }) => taskId === 'big' && status === 'HEALING');
    const outcome = await ended(runId);
    expect(outcome).toMatchObject({
      overallStatus: 'COMPLETED',
      healing: [
        { taskId: 'big', strategy: 'RETRY', reason: expect.stringContaining('SIGKILL'), outcome: 'SUCCESS' },
      ],
    });
  },
  60_000,
);

const mount = (directory: string) => ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', directory];

/** Whether this user may mount a small disk: root may, if its machine lets it. */
function canMount(): boolean {
  const directory = mkdtempSync(path.join(tmpdir(), 'opsgraph-disk-'));
  try {
    execFileSync('mount', mount(directory), { stdio: 'ignore' });
    execFileSync('umount', [directory]);
    return true;
  } catch {
    process.stderr.write('This user may not mount a disk: what a full one does is not tested here.\n');
    return false;
  } finally {
    rmdirSync(directory);
  }
}

(canMount() ? it : it.skip)(
  'a full disk fails the run in a sentence, and the next one finds room again',
  async () => {
    const directory = path.join(house.app.dataDir, 'runs');
    await mkdir(directory, { recursive: true });
    await execute('mount', mount(directory));
    try {
      const random =
        'SELECT i, md5(i::VARCHAR) || md5((i * 7)::VARCHAR) AS noise FROM range(1000000) AS r (i), a';
      const outcome = await run(random);
      expect(outcome).toMatchObject({
        overallStatus: 'FAILED',
        error: expect.stringMatching(/^big: .*(space|disk)/i),
        taskStatuses: { big: 'FAILED', t: 'UPSTREAM_FAILED' },
      });
      expect(await readdir(path.join(directory, outcome.runId))).not.toContain('big.parquet');
      expect((await small()).overallStatus).toBe('COMPLETED');
      const health = await fetch(`${house.app.url}/health`);
      expect(health.status).toBe(200);
    } finally {
      await execute('umount', ['-l', directory]);
    }
  },
);
