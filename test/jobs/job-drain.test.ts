import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { type JobHouse, runJob as job, openJobHouse } from './job-house.js';

describe('a job runner that drains', () => {
  let house: JobHouse;
  beforeAll(async () => {
    house = await openJobHouse();
  });
  afterEach(() => house.clear());
  afterAll(() => house.close());

  const node: JobHouse['node'] = (...process) => house.node(...process);
  const rows = () => house.rows();

  it('drains: what runs ends, what waits stays for others', async () => {
    const held = Promise.withResolvers<void>();
    const ended: string[] = [];
    const worker = await node(
      [
        job(async ({ runId }, { signal }) => {
          await held.promise;
          ended.push(`${runId} ${signal.aborted}`);
        }),
      ],
      { concurrency: 1 },
    );
    await worker.runner.enqueue('execute-run', { runId: 'running' });
    await worker.runner.enqueue('execute-run', { runId: 'waiting' });
    await eventually(async () => (await rows()).filter((row) => row['locked_at'] !== null).length === 1);
    const drained = worker.runner.drain(5_000);
    held.resolve();
    expect(await drained).toBe(0);
    expect(ended).toEqual(['running false']);
    expect(await rows()).toMatchObject([{ data: { runId: 'waiting' }, locked_at: null }]);
  });

  it('a job aborted by an impatient drain is taken over by another worker at once', async () => {
    const log: string[] = [];
    const stubborn = job(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          log.push('first begins');
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      { lockLifetimeMs: 6_000 },
    );
    const first = await node([stubborn]);
    await first.runner.enqueue('execute-run', { runId: 'run_1' });
    await eventually(() => log.length === 1);
    await node([job(async ({ runId }) => void log.push(`second does ${runId}`))]);
    const started = performance.now();
    expect(await first.runner.drain(50)).toBe(0);
    await eventually(() => log.length === 2);
    expect(performance.now() - started).toBeLessThan(900);
    expect(log).toEqual(['first begins', 'second does run_1']);
  });

  it('says how many jobs ignored the abort', async () => {
    const held = Promise.withResolvers<void>();
    const worker = await node([job(() => held.promise)]);
    await worker.runner.enqueue('execute-run', { runId: 'deaf' });
    await eventually(async () => (await rows()).some((row) => row['last_run_at'] !== null));
    expect(await worker.runner.drain(10)).toBe(1);
    held.resolve();
  });

  it('still enqueues for others while it drains', async () => {
    const ran: string[] = [];
    const leaving = await node([job(async () => void ran.push('leaving'))]);
    await node([job(async ({ runId }) => void ran.push(runId))]);
    await leaving.runner.drain(0);
    const started = performance.now();
    await leaving.runner.enqueue('execute-run', { runId: 'last request' });
    await eventually(() => ran.length === 1);
    expect(ran).toEqual(['last request']);
    expect(performance.now() - started).toBeLessThan(900);
  });
});
