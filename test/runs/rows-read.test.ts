import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nativePool } from '../../src/database/native-pool.js';
import { claimRun } from '../../src/domain/runs/claim-run.js';
import { createRunJournal } from '../../src/domain/runs/run-journal.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const definition = `
apiVersion: v1
name: counted
source: { id: a, type: inline, rows: [{ x: 1 }] }
target: { id: t, type: file, path: counted.csv, mode: OVERWRITE }
`;

/** What was read is noted here: no worker looks for any run. */
describe('the rows that a run has read', () => {
  let house: RunHouse;

  beforeAll(async () => {
    house = await openRunHouse({ ROLE: 'api' });
  });

  afterAll(() => house.close());

  /** A run that has failed after its sources gave that many rows, one after the other. */
  async function failedAfter(counts: (number | null)[]): Promise<string> {
    const runId = await house.start(await house.createPipeline(definition));
    const { orm, wake, now } = house.app.services;
    const pool = await nativePool(orm);
    const owner = 'rows-read';
    await claimRun(pool, owner, now(), { runsPerWorkspace: 1, runsPerPipeline: 1 });
    const journal = createRunJournal({ pool, wake, runId, owner, now });
    const messages = [{ type: 'log' as const, body: { level: 'INFO' as const, message: 'noted' } }];
    for (const rowsRead of counts) await journal.append({ rowsRead, rowsWritten: 1, messages });
    await journal.append({ state: 'FAILED', finished: true, messages });
    return runId;
  }

  it.each([
    ['the sum of all', [3, 2], 5, 2],
    ['unknown once those of one source are, and stay so', [3, null, 2], null, 3],
  ])('are %s, also in a retry', async (_, counts, rowsRead, rowsWritten) => {
    const runId = await failedAfter(counts);
    const read = async (id: string) => (await house.engineer('GET', `/api/v1/runs/${id}`)).body;
    expect(await read(runId)).toMatchObject({ overallStatus: 'FAILED', rowsRead, rowsWritten });
    const { body } = await house.engineer('POST', `/api/v1/runs/${runId}/retry`);
    expect(await read(body.runId)).toMatchObject({ overallStatus: 'PENDING', rowsRead, rowsWritten });
    await house.engineer('POST', `/api/v1/runs/${body.runId}/cancel`);
  });
});
