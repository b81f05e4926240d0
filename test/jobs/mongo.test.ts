import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { z } from 'zod';
import { defineJob, type JobTools } from '../../src/jobs/define-job.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type JobNode, openJobNode } from './job-house.js';

const mongodbUrl = process.env['MONGODB_URL'];
if (mongodbUrl === undefined)
  process.stderr.write(
    '\nSKIPPED: the job store on MongoDB is not tested, because MONGODB_URL is not set.\n',
  );

describe('job runner whose MongoDB is away', () => {
  it('refuses to enqueue, within seconds', async () => {
    const database = await createTestDatabase();
    const store = { kind: 'mongo', url: 'mongodb://127.0.0.1:1/none' } as const;
    const definitions = [
      defineJob({
        name: 'execute-run',
        payload: z.strictObject({ runId: z.string() }),
        lockLifetimeMs: 1_000,
        run: async () => undefined,
      }),
    ];
    const away = await openJobNode({ databaseUrl: database.url, definitions, store });
    const started = performance.now();
    await expect(away.runner.enqueue('execute-run', { runId: 'a' })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { service: 'job queue' },
    });
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(away.runner.healthy()).toBe(false);
    await away.close();
    await database.close();
  });
});

(mongodbUrl === undefined ? describe.skip : describe)('job runner on MongoDB', () => {
  const name = `opsgraph_test_${process.pid}`;
  const url = Object.assign(new URL(mongodbUrl ?? 'mongodb://none'), { pathname: `/${name}` }).href;
  let database: TestDatabase;
  let mongo: MongoClient;
  const open: JobNode[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    mongo = await MongoClient.connect(mongodbUrl ?? '');
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((node) => node.close()));
    await mongo.db(name).collection('agendaJobs').deleteMany({});
  });
  afterAll(async () => {
    await mongo.db(name).dropDatabase();
    await mongo.close();
    await database.close();
  });

  async function node(
    run: (runId: string, tools: JobTools) => Promise<void>,
    role: 'api' | 'worker' = 'worker',
  ): Promise<JobNode> {
    const definition = defineJob({
      name: 'execute-run',
      payload: z.strictObject({ runId: z.string() }),
      lockLifetimeMs: 1_000,
      retry: { attempts: 2, firstDelayMs: 10 },
      run: ({ runId }, tools) => run(runId, tools),
    });
    const store = { kind: 'mongo', url } as const;
    const opened = await openJobNode({ databaseUrl: database.url, definitions: [definition], role, store });
    open.push(opened);
    return opened;
  }

  const rows = () => mongo.db(name).collection('agendaJobs').find().toArray();

  it('an api process enqueues, two workers share the work, each job runs once, no row is left', async () => {
    const ran: string[] = [];
    const counts = [0, 0];
    const worker = (index: 0 | 1) => async (runId: string) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      ran.push(runId);
      counts[index] = (counts[index] ?? 0) + 1;
    };
    const api = await node(async () => undefined, 'api');
    await node(worker(0));
    await node(worker(1));
    const ids = Array.from({ length: 100 }, (_, index) => `run_${index}`);
    await Promise.all(ids.map((runId) => api.runner.enqueue('execute-run', { runId })));
    await eventually(() => ran.length === 100);
    expect(new Set(ran)).toEqual(new Set(ids));
    expect(Math.min(...counts)).toBeGreaterThan(10);
    await eventually(async () => (await rows()).length === 0);
  });

  it('repeats, drains and hands over', async () => {
    const attempts: number[] = [];
    const held = Promise.withResolvers<void>();
    const first = await node(async (runId, { attempt, signal }) => {
      attempts.push(attempt);
      if (runId === 'fails') throw new Error('no luck');
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    await first.runner.enqueue('execute-run', { runId: 'fails' });
    await eventually(async () => attempts.length === 2 && (await rows()).length === 0);
    await first.runner.enqueue('execute-run', { runId: 'handed over' });
    await eventually(() => attempts.length === 3);
    await node(async () => held.resolve());
    expect(await first.runner.drain(10)).toBe(0);
    await held.promise;
    expect(attempts).toEqual([1, 2, 1]);
  });
});
