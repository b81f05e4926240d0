import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundleSource } from '../../scripts/import-source.js';
import { runChaos } from './chaos.js';

/** bench/webhooks-chaos.ts is the same with 20,000 events. */
describe('workers that are killed while PostgreSQL restarts', () => {
  let workerFile: string;
  beforeAll(async () => {
    workerFile = await bundleSource('test/webhooks/delivery-process.ts');
  });
  afterAll(() => rm(workerFile));

  it('deliver every event to every receiver, signed, and hardly any twice', async () => {
    const outcome = await runChaos({
      workerFile,
      events: 2_000,
      receivers: 3,
      workers: 3,
      kills: 6,
      leaseSeconds: 2,
      patienceMs: 60_000,
    });
    expect(outcome).toMatchObject({
      kills: 6,
      restarts: 1,
      expected: 6_000,
      arrived: 6_000,
      missing: 0,
      badSignatures: 0,
    });
    // With so few events each death weighs ten times what it does among 20,000.
    expect(outcome.duplicates).toBeLessThan(600);
  }, 90_000);
});
