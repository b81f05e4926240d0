import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sweepRunHistory } from '../../src/domain/runs/sweep-run-history.js';
import { eventually } from '../support/eventually.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const DAY_MS = 24 * 3_600_000;

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse({ RUN_RETENTION_DAYS: '7' });
});

afterAll(() => house.close());

const definition = `
apiVersion: v1
name: kept
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: b, type: sql, inputs: [a], sql: "SELECT error('no') AS x FROM a" }
target: { id: t, type: file, path: kept.parquet, mode: OVERWRITE }
`;

const ended = async (runId: string) => {
  await house.watch(runId, { after: 0 }).closed;
  return runId;
};
const statusOf = async (runId: string) => (await house.engineer('GET', `/api/v1/runs/${runId}`)).status;
const sweep = (days: number, signal = new AbortController().signal) =>
  sweepRunHistory({ ...house.app.services, now: () => new Date(Date.now() + days * DAY_MS) }, signal);

it('forgets runs when their days are over, with all that was told of them, but never the newest of a pipeline', async () => {
  const pipelineId = await house.createPipeline(definition);
  const first = await ended(await house.start(pipelineId));
  const { body } = await house.engineer('POST', `/api/v1/runs/${first}/retry`);
  const retry = await ended(body.runId);
  const quarantine = path.join(house.app.dataDir, 'files/quarantine');
  for (const name of [first, 'of-a-run-that-was-deleted'])
    await mkdir(path.join(quarantine, name), { recursive: true });

  expect(await sweep(6)).toBe(0);
  expect(await readdir(quarantine)).toEqual([first]);
  expect(await sweep(8, AbortSignal.abort())).toBe(0);
  expect(await sweep(8)).toBe(1);
  expect([await statusOf(first), await statusOf(retry)]).toEqual([404, 200]);
  const em = house.app.services.orm.em.fork();
  for (const table of ['run', 'run_task', 'run_message', 'lineage_event']) {
    const column = table === 'run' ? 'id' : 'run_id';
    const [counted] = await em.execute(`SELECT count(*)::int AS n FROM "${table}" WHERE "${column}" = ?`, [
      first,
    ]);
    expect([table, counted]).toEqual([table, { n: 0 }]);
  }
  const graph = await house.engineer('POST', '/graphql', { query: `{ run(id: "${retry}") { retryOf } }` });
  expect(graph.body.data.run).toEqual({ retryOf: null });
  // Its retry has what was set aside under the first run's id.
  expect(await readdir(quarantine)).toEqual([first]);

  const newest = await ended(await house.start(pipelineId));
  expect(await sweep(8)).toBe(1);
  expect([await statusOf(retry), await statusOf(newest)]).toEqual([404, 200]);
  expect(await readdir(quarantine)).toEqual([]);
  expect(await sweep(8)).toBe(0);
});

it('leaves a run alone that is under way, however old it is', async () => {
  const forever = definition
    .replace("error('no') AS x", 'count(*) AS x')
    .replace('FROM a', 'FROM range(1000000000000) AS r (i), a WHERE i % 3 = 1');
  const pipelineId = await house.createPipeline(forever);
  const open = await house.start(pipelineId);
  await house.watch(open).until(({ taskId, status }) => taskId === 'b' && status === 'RUNNING');
  await ended(await house.start(pipelineId, { yamlDefinition: definition }));
  expect(await sweep(3_000)).toBe(0);
  await house.engineer('POST', `/api/v1/runs/${open}/cancel`);
  expect(await sweep(3_000)).toBe(1);
  expect(await statusOf(open)).toBe(404);
});

it('has no lineage waiting to be posted where nobody wants it', async () => {
  const runId = await ended(await house.start(await house.createPipeline(definition)));
  const em = house.app.services.orm.em.fork();
  const told = () =>
    em.execute<{ waits: boolean }[]>(
      'SELECT "posted_at" IS NULL AS "waits" FROM "lineage_event" WHERE "run_id" = ?',
      [runId],
    );
  await eventually(async () => (await told()).length === 2);
  expect(await told()).toEqual([{ waits: false }, { waits: false }]);
});
