import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { watch } from '../runs/watched-run.js';
import { clientCredential } from '../support/credentials.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Call, caller } from '../support/rest.js';
import { type ServerProcess, startServerProcess } from './server-process.js';

const RUNS = 12;
const yamlDefinition = `
apiVersion: v1
name: counted
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: b, type: sql, inputs: [a], sql: "SELECT count(*) AS n FROM range(20000000) AS r (i), a WHERE i % 7 = 3" }
target: { id: t, type: file, path: counted.parquet, mode: OVERWRITE }
`;

let database: TestDatabase;
let dataDir: string;
let api: ServerProcess;
let workers: ServerProcess[] = [];
let engineer: Call;
let credential: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-roles-'));
  const start = (name: string, role: string) =>
    startServerProcess({
      ROLE: role,
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '6',
      DATA_DIR: path.join(dataDir, name),
      SEED: 'demo',
      OPSGRAPH_SECRET_KEY: 'ab'.repeat(32),
      JOB_CONCURRENCY: '2',
    });
  api = await start('api', 'api');
  workers = await Promise.all([start('one', 'worker'), start('two', 'worker')]);
  credential = await clientCredential(api.url, 'demo-engineer');
  engineer = caller(api.url, credential);
}, 120_000);

afterAll(async () => {
  await Promise.all([api, ...workers].map((server) => server.kill('SIGTERM')));
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Ids of the runs a process took up, by its log. */
function takenUp(server: ServerProcess): string[] {
  const records = server.lines.map((line) => JSON.parse(line) as { msg: string; runId?: string });
  return records.flatMap(({ msg, runId }) => (msg === 'run taken up' && runId ? [runId] : []));
}

describe('ROLE', () => {
  it('splits serving from working: two workers share the runs that an api process takes in', async () => {
    const { body: pipeline } = await engineer('POST', '/api/v1/pipelines', {
      name: 'counted',
      yamlDefinition,
    });
    const started = await Promise.all(
      Array.from({ length: RUNS }, () => engineer('POST', `/api/v1/pipelines/${pipeline.id}/run`)),
    );
    const runIds = started.map(({ body }) => body.runId as string);
    expect(await Promise.all(runIds.map((runId) => watch(api.url, runId, { credential }).closed))).toEqual(
      runIds.map(() => 1000),
    );
    const runs = await Promise.all(runIds.map((runId) => engineer('GET', `/api/v1/runs/${runId}`)));
    expect(runs.map(({ body }) => [body.overallStatus, body.attempts])).toEqual(
      runIds.map(() => ['COMPLETED', 1]),
    );

    expect(takenUp(api)).toEqual([]);
    const shares = workers.map(takenUp);
    expect(shares.flat().toSorted()).toEqual(runIds.toSorted());
    for (const share of shares) expect(share.length).toBeGreaterThan(0);
  }, 60_000);

  it('leaves a worker its health and its metrics, and nothing else', async () => {
    const [worker] = workers;
    const call = caller(worker?.url ?? '', credential);
    expect((await call('GET', '/health')).body).toEqual({ status: 'UP', gateway: 'opsgraph' });
    expect((await call('GET', '/api/v1/pipelines')).status).toBe(404);
    expect((await fetch(`${worker?.url}/metrics`)).status).toBe(200);
  });
});
