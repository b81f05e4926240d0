import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, type Pool } from 'pg';
import { nativePool } from '../../src/database/native-pool.js';
import { claimRun } from '../../src/domain/runs/claim-run.js';
import { executeRun } from '../../src/domain/runs/execute-run.js';
import { newUuid } from '../../src/entities/ids.js';
import { eventually } from '../support/eventually.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const definition = (name: string) => `
apiVersion: v1
name: ${name}
source: { id: a, type: inline, rows: [{ x: 1 }] }
target: { id: t, type: postgres, connection: warehouse, table: public.${name}, mode: APPEND }
`;

const limits = { runsPerWorkspace: 3, runsPerPipeline: 2 };

/** Only `claimRun` takes runs here: no worker looks for any. */
describe('the run that is next', () => {
  let house: RunHouse;
  let pool: Pool;
  const claim = () => claimRun(pool, newUuid(), new Date(), limits);
  const take = async () => (await claim())?.id;
  const end = (id: string | undefined) =>
    pool.query(`UPDATE "run" SET "state" = 'SUCCESS', "lease_owner" = NULL WHERE "id" = $1`, [id]);
  const start = async (pipelineId: string, priority: string) => {
    const { body } = await house.engineer('POST', '/graphql', {
      query: `mutation ($id: UUID!, $input: RunPipelineInput) { runPipeline(pipelineId: $id, input: $input) { runId priority } }`,
      variables: { id: pipelineId, input: { priority } },
    });
    expect(body.data.runPipeline.priority).toBe(priority);
    return body.data.runPipeline.runId as string;
  };

  beforeAll(async () => {
    house = await openRunHouse({ ROLE: 'api' });
    pool = await nativePool(house.app.services.orm);
  });

  afterEach(() =>
    pool.query(`UPDATE "run" SET "state" = 'CANCELLED', "lease_owner" = NULL WHERE "state" = 'QUEUED'`),
  );

  afterAll(() => house.close());

  it('is the one of the highest priority, then the oldest, as long as its pipeline and workspace have a place', async () => {
    const [a, b] = [await house.createPipeline(definition('a')), await house.createPipeline(definition('b'))];
    const low = await start(a, 'LOW');
    const older = await start(a, 'MEDIUM');
    const younger = await start(a, 'MEDIUM');
    const high = await start(a, 'HIGH');
    const other = await start(b, 'LOW');
    expect([await take(), await take()]).toEqual([high, older]);
    // Two of pipeline a are under way, so b's turn comes before all that is left of a.
    expect(await take()).toBe(other);
    expect(await take()).toBeUndefined();
    await end(high);
    expect(await take()).toBe(younger);
    await end(other);
    // The workspace has a place, the pipeline has none.
    expect(await take()).toBeUndefined();
    await end(older);
    expect(await take()).toBe(low);
  });

  it('is given to one of many workers that ask at once, and never beyond the limits', async () => {
    const pipelines = [
      await house.createPipeline(definition('c')),
      await house.createPipeline(definition('d')),
    ];
    for (let n = 0; n < 12; n += 1) await house.start(pipelines[n % 2] ?? '');
    const claims = await Promise.all(Array.from({ length: 16 }, claim));
    const got = claims.filter((run) => run !== undefined);
    expect(new Set(got.map(({ id }) => id)).size).toBe(3);
    for (const pipelineId of pipelines) {
      expect(got.filter((run) => run.pipelineId === pipelineId).length).toBeLessThanOrEqual(2);
    }
  });

  it('may have been begun by a worker that is gone, and then keeps its place', async () => {
    const pipelineId = await house.createPipeline(definition('e'));
    const left = await house.start(pipelineId);
    expect(await take()).toBe(left);
    await start(pipelineId, 'HIGH');
    await pool.query(`UPDATE "run" SET "lease_until" = now() - interval '1 second' WHERE "id" = $1`, [left]);
    const again = await claim();
    expect(again).toMatchObject({ id: left, losses: 1 });
  });

  it('goes to another worker when one freezes before its claim is committed', async () => {
    const runId = await house.start(await house.createPipeline(definition('i')));
    const worker = new Client({ connectionString: house.app.database.url });
    const errors: unknown[] = [];
    worker.on('error', (error) => errors.push(error));
    await worker.connect();
    let isFrozen = false;
    const query = async (statement: string) => {
      isFrozen = statement === 'COMMIT';
      return isFrozen ? new Promise(() => undefined) : worker.query(statement);
    };
    const frozen = { connect: async () => ({ query, release: () => undefined }) };
    void claimRun(frozen as unknown as Pool, newUuid(), new Date(), limits);
    await eventually(() => isFrozen);
    const before = performance.now();
    expect(await take()).toBe(runId);
    expect(performance.now() - before).toBeLessThan(10_000);
    // idle_in_transaction_session_timeout
    expect(errors[0]).toMatchObject({ code: '25P03' });
    await end(runId);
  });

  it('is not a second one that reads on where the first has not ended', async () => {
    await house.warehouse.query('CREATE TABLE public.orders AS SELECT 1 AS id');
    const incremental = definition('f').replace(
      'type: inline, rows: [{ x: 1 }]',
      'type: postgres, connection: warehouse, table: public.orders, incremental: { column: id }',
    );
    const pipelineId = await house.createPipeline(incremental);
    const first = await house.start(pipelineId);
    const second = await house.start(pipelineId);
    const alone = await house.start(pipelineId, { yamlDefinition: definition('g') });
    expect(await take()).toBe(first);
    expect(await take()).toBe(alone);
    expect(await take()).toBeUndefined();
    await end(alone);
    expect(await take()).toBeUndefined();
    await end(first);
    expect(await take()).toBe(second);
  });

  it('is given up after five workers in a row that it took down', async () => {
    const runId = await house.start(await house.createPipeline(definition('h')));
    for (let lost = 0; lost <= 5; lost += 1) {
      expect(await claim()).toMatchObject({ id: runId, losses: lost });
      await pool.query(`UPDATE "run" SET "lease_until" = now() - interval '1 second' WHERE "id" = $1`, [
        runId,
      ]);
    }
    await executeRun(house.app.services, new AbortController().signal);
    const { body } = await house.engineer('GET', `/api/v1/runs/${runId}`);
    expect(body).toMatchObject({
      overallStatus: 'FAILED',
      error: '6 workers in a row were lost while they executed this run',
      attempts: 7,
    });
  });
});

describe('workers', () => {
  let house: RunHouse;

  beforeAll(async () => {
    house = await openRunHouse({
      RUN_CONCURRENCY_PER_PIPELINE: '1',
      RUN_CONCURRENCY_PER_WORKSPACE: '1',
      JOB_CONCURRENCY: '8',
    });
  });

  afterAll(() => house.close());

  it('take the next run as soon as one ends or is cancelled', async () => {
    const forever = definition('t')
      .replace('a, type: inline', 'b, type: inline')
      .replace(
        'target:',
        `transformations: { id: a, type: sql, inputs: [b], sql: "SELECT count(*) AS n FROM range(1000000000000) AS r (i), b WHERE i % 3 = 1" }
target:`,
      );
    const quick = await house.createPipeline(
      definition('t').replace(/target:.*/, 'target: { id: t, type: file, path: t.parquet, mode: OVERWRITE }'),
    );
    const slow = await house.start(await house.createPipeline(forever));
    await house.watch(slow).until(({ taskId, status }) => taskId === 'a' && status === 'RUNNING');
    const waiting: string[] = [];
    for (let n = 0; n < 5; n += 1) waiting.push(await house.start(quick));
    const statuses = async () => {
      const { body } = await house.engineer('GET', `/api/v1/runs?pipelineId=${quick}`);
      return body.map(({ overallStatus }: { overallStatus: string }) => overallStatus);
    };
    expect(await statuses()).toEqual(Array(5).fill('PENDING'));
    const before = performance.now();
    await house.engineer('POST', `/api/v1/runs/${slow}/cancel`);
    await eventually(async () => (await statuses()).every((status: string) => status === 'COMPLETED'));
    // The sweep comes every ten seconds; nobody waits for it.
    expect(performance.now() - before).toBeLessThan(9_000);
    const { body } = await house.engineer('GET', `/api/v1/runs?pipelineId=${quick}`);
    const spans = body
      .map(({ startedAt, finishedAt }: Record<string, string>) => ({ startedAt, finishedAt }))
      .toReversed();
    for (const [index, { startedAt }] of spans.entries()) {
      if (index > 0) expect(startedAt >= spans[index - 1].finishedAt).toBe(true);
    }
    expect(body.map(({ runId }: { runId: string }) => runId).toReversed()).toEqual(waiting);
  });
});
