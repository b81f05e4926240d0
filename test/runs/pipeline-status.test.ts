import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { nativePool } from '../../src/database/native-pool.js';
import { claimRun } from '../../src/domain/runs/claim-run.js';
import { createRunJournal, type JournalEntry } from '../../src/domain/runs/run-journal.js';
import { newUuid } from '../../src/entities/ids.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const definition = `
apiVersion: v1
name: mirrored
source: { id: a, type: inline, rows: [{ x: 1 }] }
target: { id: t, type: file, path: mirrored.csv, mode: OVERWRITE }
`;

/** Runs are taken up and ended here: no worker looks for any. */
describe("a pipeline's status", () => {
  let house: RunHouse;
  let pool: Pool;
  let pipelineId: string;

  beforeAll(async () => {
    house = await openRunHouse({ ROLE: 'api' });
    pool = await nativePool(house.app.services.orm);
  });

  beforeEach(async () => {
    pipelineId = await house.createPipeline(definition);
  });

  afterAll(() => house.close());

  const status = async () => (await house.engineer('GET', `/api/v1/pipelines/${pipelineId}`)).body.status;
  const cancel = (runId: string) => house.engineer('POST', `/api/v1/runs/${runId}/cancel`);

  /** The oldest run that waits begins; what is given back ends it. */
  async function begin() {
    const owner = newUuid();
    const run = await claimRun(pool, owner, new Date(), { runsPerWorkspace: 100, runsPerPipeline: 100 });
    if (!run) throw new Error('no run waits');
    const { wake, now } = house.app.services;
    const journal = createRunJournal({ pool, wake, runId: run.id, owner, now });
    const write = (entry: Omit<JournalEntry, 'messages'>) =>
      journal.append({ ...entry, messages: [{ type: 'log', body: { level: 'INFO', message: 'written' } }] });
    await write({ state: 'RUNNING', pipelineStatus: 'RUNNING' });
    return (state: 'SUCCESS' | 'FAILED') => write({ state, pipelineStatus: state, finished: true });
  }

  it('is that of its newest run, though an older one ends later', async () => {
    await house.start(pipelineId);
    const endOlder = await begin();
    await house.start(pipelineId);
    const endNewer = await begin();
    await endNewer('SUCCESS');
    expect(await status()).toBe('SUCCESS');
    await endOlder('FAILED');
    expect(await status()).toBe('SUCCESS');
  });

  it('stays when an older run is cancelled, and not when the newest is', async () => {
    const older = await house.start(pipelineId);
    const newer = await house.start(pipelineId);
    expect((await cancel(newer)).status).toBe(200);
    expect(await status()).toBe('CANCELLED');
    await pool.query(`UPDATE "pipeline" SET "status" = 'WARNING' WHERE "id" = $1`, [pipelineId]);
    expect((await cancel(older)).status).toBe(200);
    expect(await status()).toBe('WARNING');
  });

  it('is not that of a run which only waits', async () => {
    await house.start(pipelineId);
    const end = await begin();
    const waiting = await house.start(pipelineId);
    await end('FAILED');
    expect(await status()).toBe('FAILED');
    await cancel(waiting);
  });
});
