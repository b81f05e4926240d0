import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { executeRun } from '../../src/domain/runs/execute-run.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const DAY_MS = 24 * 3_600_000;

const definition = (from: string, to: string) => `
apiVersion: v1
name: moved
parameters: [{ id: c, type: STRING, default: warehouse }]
source: { id: s, type: postgres, connection: "${from}", table: public.moved }
target: { id: t, type: postgres, connection: ${to}, table: public.moved_to, mode: APPEND }
`;

/** Runs are carried out when the test says so: no worker looks for any. */
describe('the engine of a run', () => {
  let house: RunHouse;

  beforeAll(async () => {
    house = await openRunHouse({ ROLE: 'api' });
    await house.warehouse.query('CREATE TABLE public.moved AS SELECT 1 AS x');
  });

  afterAll(() => house.close());

  const engineOf = async (runId: string) => {
    const { body } = await house.engineer('GET', `/api/v1/runs/${runId}`);
    return [body.engine, body.overallStatus];
  };
  const carryOut = (now: () => Date) =>
    executeRun({ ...house.app.services, now }, new AbortController().signal);

  it('is told with what the run was given filled in', async () => {
    const pipelineId = await house.createPipeline(definition('{{ params.c }}', 'warehouse'));
    const run = (parameters: object) =>
      house.engineer('POST', `/api/v1/pipelines/${pipelineId}/run`, { parameters });
    const { body: pushedDown } = await run({});
    expect(pushedDown.engine).toBe('JDBC');
    expect((await run({ c: 'lake' })).body.engine).toBe('BATCH');
    await carryOut(() => new Date());
    expect(await engineOf(pushedDown.runId)).toEqual(['JDBC', 'COMPLETED']);
    await carryOut(() => new Date());
  });

  it('is the one that was used, where that was not known when the run was asked for', async () => {
    const tomorrow = new Date(Date.now() + DAY_MS);
    const day = `day_${new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Warsaw' }).format(tomorrow)}`;
    await house.connect(day);
    const runId = await house.start(await house.createPipeline(definition('day_{{ schedule.date }}', day)));
    expect(await engineOf(runId)).toEqual(['BATCH', 'PENDING']);
    await carryOut(() => tomorrow);
    expect(await engineOf(runId)).toEqual(['JDBC', 'COMPLETED']);
  });
});
