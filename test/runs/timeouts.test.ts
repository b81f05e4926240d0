import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse();
  await house.warehouse.query('CREATE TABLE public.busy AS SELECT 1 AS x');
});

afterAll(() => house.close());

const ended = async (runId: string) => {
  await house.watch(runId, { after: 0 }).closed;
  return (await house.engineer('GET', `/api/v1/runs/${runId}`)).body;
};

/** `slow` takes 1.5 s, `quick` no time. */
const pair = (yaml: string, slow: string, quick: string) => `
apiVersion: v1
name: pair
engine: BATCH
${yaml}
source:
  - { id: slow, type: postgres, connection: warehouse, query: "SELECT 1 AS x FROM pg_sleep(1.5)"${slow} }
  - { id: quick, type: postgres, connection: warehouse, query: "SELECT 1 AS x"${quick} }
target:
  - { id: t, input: slow, type: file, path: slow.csv, mode: OVERWRITE }
  - { id: u, input: quick, type: file, path: quick.csv, mode: OVERWRITE }
`;

describe("a task's timeout", () => {
  it.each([
    ["the record's", '', { timeoutSeconds: 1 }],
    ["the definition's", 'timeout: PT1S', {}],
  ])('counts before %s, though that is shorter', async (_, yaml, record) => {
    const runId = await house.start(await house.createPipeline(pair(yaml, ', timeout: PT30S', ''), record));
    expect(await ended(runId)).toMatchObject({ overallStatus: 'COMPLETED', error: null, healing: [] });
  });

  it.each([
    ["the record's", '', { timeoutSeconds: 1 }],
    ["the definition's", 'timeout: PT1S', {}],
  ])('is %s where it has none, also beside one that may take longer', async (_, yaml, record) => {
    const definition = pair(`${yaml}\nretry: { maxAttempts: 1 }`, '', ', timeout: PT30S');
    expect(await ended(await house.start(await house.createPipeline(definition, record)))).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^slow: .*timeout/),
      taskStatuses: { slow: 'FAILED', t: 'UPSTREAM_FAILED', u: 'SKIPPED' },
    });
  });
});

/** Waits for a lock of the table as long as somebody else has it. */
const waiting = (maxAttempts: number) => `
apiVersion: v1
name: waiting
engine: BATCH
source:
  id: s
  type: postgres
  connection: warehouse
  table: public.busy
  timeout: PT1S
  retry: { type: fixed, interval: PT0.1S, maxAttempts: ${maxAttempts} }
target: { id: t, type: file, path: waiting.csv, mode: OVERWRITE }
`;

describe('a task that took longer than its timeout', () => {
  const lock = () => house.warehouse.query('BEGIN; LOCK public.busy');

  it('is tried again, and a record of it is kept', async () => {
    await lock();
    const watched = house.watch(await house.start(await house.createPipeline(waiting(20))));
    await watched.until(({ taskId, status }) => taskId === 's' && status === 'HEALING');
    await house.warehouse.query('ROLLBACK');
    await watched.closed;
    const { body } = await house.engineer('GET', `/api/v1/runs/${watched.messages[0]?.runId}`);
    expect(body).toMatchObject({ overallStatus: 'COMPLETED', taskStatuses: { s: 'SUCCESS', t: 'SUCCESS' } });
    expect(body.healing[0]).toMatchObject({
      taskId: 's',
      strategy: 'RETRY',
      attempt: 1,
      reason: expect.stringMatching(/timeout/),
    });
    expect(body.healing.at(-1).outcome).toBe('SUCCESS');
  });

  it('fails after as many attempts as its retry allows', async () => {
    await lock();
    const run = await ended(await house.start(await house.createPipeline(waiting(2))));
    await house.warehouse.query('ROLLBACK');
    expect(run).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^s: .*timeout/),
      healing: [{ taskId: 's', strategy: 'RETRY', attempt: 1, outcome: 'FAILED' }],
    });
  });

  it("is not tried again when it was the run's that was over", async () => {
    await lock();
    const definition = waiting(20).replace('  timeout: PT1S\n', '');
    const run = await ended(await house.start(await house.createPipeline(definition, { timeoutSeconds: 1 })));
    await house.warehouse.query('ROLLBACK');
    expect(run).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/run .*timeout/),
      taskStatuses: { s: 'FAILED' },
      healing: [],
    });
  });
});
