import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { caller } from '../support/rest.js';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse();
});

afterAll(() => house.close());

const runOf = async (runId: string) => (await house.engineer('GET', `/api/v1/runs/${runId}`)).body;
const retry = (runId: string) => house.engineer('POST', `/api/v1/runs/${runId}/retry`);
const ended = async (runId: string) => {
  await house.watch(runId, { after: 0 }).closed;
  return runOf(runId);
};
const valuesIn = async (table: string) =>
  (await house.warehouse.query(`SELECT x FROM public.${table} ORDER BY x`)).rows.map(({ x }) => x);

/** Two targets, of which the second is not there yet. */
const definition = (name: string, more = '') => `
apiVersion: v1
name: ${name}
engine: BATCH
parameters: [{ id: added, type: INTEGER, default: 0 }]
source: { id: read, type: postgres, connection: warehouse, table: public.${name}_source${more} }
transformations: { id: sum, type: sql, inputs: [read], sql: "SELECT (x + {{ params.added }})::INTEGER AS x FROM read" }
target:
  - { id: first, type: postgres, connection: warehouse, table: public.${name}_first, mode: APPEND }
  - { id: second, type: postgres, connection: warehouse, table: public.${name}_second, mode: APPEND, dependsOn: [first] }
`;

/** A run whose first target is written and whose second is not. */
async function failed(name: string, more = ''): Promise<{ pipelineId: string; runId: string }> {
  await house.warehouse.query(
    `CREATE TABLE public.${name}_source AS SELECT generate_series(1, 3) AS x;
     CREATE TABLE public.${name}_first (x int); CREATE TABLE public.${name}_second (y text NOT NULL)`,
  );
  const pipelineId = await house.createPipeline(definition(name, more));
  const runId = await house.start(pipelineId, { parameters: { added: 10 } });
  expect(await ended(runId)).toMatchObject({
    overallStatus: 'FAILED',
    taskStatuses: { read: 'SUCCESS', sum: 'SUCCESS', first: 'SUCCESS', second: 'FAILED' },
    rowsRead: 3,
    rowsWritten: 3,
  });
  return { pipelineId, runId };
}

const mend = (name: string) =>
  house.warehouse.query(
    `DROP TABLE public.${name}_second; CREATE TABLE public.${name}_second (x int);
     INSERT INTO public.${name}_source VALUES (4)`,
  );

describe('a retry', () => {
  it('goes on from the failed tasks with what the others had given, and is one', async () => {
    const { pipelineId, runId } = await failed('kept');
    expect(await readdir(path.join(house.app.dataDir, 'runs'))).toContain(runId);
    await mend('kept');
    const { status, body } = await retry(runId);
    expect([status, body]).toEqual([
      202,
      {
        runId: expect.any(String),
        pipelineId,
        status: expect.stringMatching(/^(PENDING|RUNNING)$/),
        taskCount: 4,
        engine: 'BATCH',
      },
    ]);
    expect(await ended(body.runId)).toMatchObject({
      overallStatus: 'COMPLETED',
      rowsRead: 3,
      rowsWritten: 6,
      triggeredBy: 'demo-engineer',
    });
    // Row 4 came when the source had been read, and the first target was written then.
    expect(await valuesIn('kept_first')).toEqual([11, 12, 13]);
    expect(await valuesIn('kept_second')).toEqual([11, 12, 13]);
    const { body: messages } = await house.engineer('GET', `/api/v1/runs/${body.runId}/logs?taskId=read`);
    expect(messages).toEqual([]);
    const graph = await house.engineer('POST', '/graphql', {
      query: `{ run(id: "${body.runId}") { retryOf parameters } }`,
    });
    expect(graph.body.data.run).toEqual({ retryOf: runId, parameters: { added: 10 } });

    const again = await retry(runId);
    expect([again.status, again.body.error]).toEqual([409, 'CONFLICT']);
    expect(JSON.stringify(again.body)).toContain(body.runId);
    expect((await retry(body.runId)).status).toBe(409);
    expect(await readdir(path.join(house.app.dataDir, 'runs'))).not.toContain(body.runId);
  });

  it('computes again what is gone, and writes nothing twice', async () => {
    const { runId } = await failed('gone');
    await rm(path.join(house.app.dataDir, 'runs', runId), { recursive: true });
    await mend('gone');
    const { body } = await retry(runId);
    expect(await ended(body.runId)).toMatchObject({ overallStatus: 'COMPLETED', rowsRead: 4 });
    expect(await valuesIn('gone_first')).toEqual([11, 12, 13]);
    expect(await valuesIn('gone_second')).toEqual([11, 12, 13, 14]);
  });

  it('may fail and be retried itself', async () => {
    const { runId } = await failed('chain');
    const first = (await retry(runId)).body.runId;
    expect((await ended(first)).overallStatus).toBe('FAILED');
    await mend('chain');
    const second = (await retry(first)).body.runId;
    expect((await ended(second)).overallStatus).toBe('COMPLETED');
    expect(await valuesIn('chain_first')).toEqual([11, 12, 13]);
    expect(await valuesIn('chain_second')).toEqual([11, 12, 13]);
  });

  it('of an incremental source reads what its run read, and moves the watermark on', async () => {
    const { pipelineId, runId } = await failed('window', ', incremental: { column: x }');
    await rm(path.join(house.app.dataDir, 'runs', runId), { recursive: true });
    await mend('window');
    const { body } = await retry(runId);
    expect(await ended(body.runId)).toMatchObject({ overallStatus: 'COMPLETED', rowsRead: 3 });
    const next = await house.start(pipelineId, { parameters: { added: 10 } });
    expect(await ended(next)).toMatchObject({ overallStatus: 'COMPLETED', rowsRead: 1 });
    for (const table of ['window_first', 'window_second'])
      expect(await valuesIn(table)).toEqual([11, 12, 13, 14]);
  });

  it('is refused when a later run has read on', async () => {
    const { pipelineId, runId } = await failed('late', ', incremental: { column: x }');
    await mend('late');
    expect((await ended(await house.start(pipelineId))).overallStatus).toBe('COMPLETED');
    const { status, body } = await retry(runId);
    expect([status, body.error]).toEqual([409, 'CONFLICT']);
    expect(body.message).toMatch(/later run/);
  });

  it('is for runs that have not succeeded, of the own workspace', async () => {
    const { runId } = await failed('whose');
    const stranger = caller(house.app.url, await house.app.platform('demo-globex-engineer'));
    expect((await stranger('POST', `/api/v1/runs/${runId}/retry`)).status).toBe(404);
    const viewer = caller(house.app.url, await house.app.platform('demo-viewer'));
    expect((await viewer('POST', `/api/v1/runs/${runId}/retry`)).status).toBe(403);
    expect((await retry('01a1fb3c-6ba4-7748-a964-b27f88c25ee9')).status).toBe(404);
  });
});
