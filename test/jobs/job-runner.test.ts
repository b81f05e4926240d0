import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineJob, type JobDefinition, type JobTools } from '../../src/jobs/define-job.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { deferred, type JobNode, openJobNode } from './job-house.js';

const payload = z.strictObject({ runId: z.string().min(1) });

describe('job runner', () => {
  let database: TestDatabase;
  const open: JobNode[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((node) => node.close()));
    await database.orm.em.fork().execute('delete from jobs.agenda_jobs');
  });
  afterAll(() => database.close());

  async function node(
    definitions: readonly JobDefinition[],
    options: Partial<Parameters<typeof openJobNode>[0]> = {},
  ): Promise<JobNode> {
    const opened = await openJobNode({ databaseUrl: database.url, definitions, ...options });
    open.push(opened);
    return opened;
  }

  function job(
    run: (input: { runId: string }, tools: JobTools) => Promise<void>,
    options: Partial<Parameters<typeof defineJob>[0]> = {},
  ): JobDefinition {
    return defineJob({ name: 'execute-run', lockLifetimeMs: 2_000, ...options, payload, run });
  }

  const rows = (): Promise<Record<string, unknown>[]> =>
    database.orm.em.fork().execute('select * from jobs.agenda_jobs order by created_at');

  it('runs a job soon after it was enqueued, with its payload, and leaves no row', async () => {
    const ran = deferred();
    const seen: unknown[] = [];
    const { runner } = await node([
      job(async (input, { attempt, signal, services }) => {
        seen.push(input, attempt, signal.aborted, services.jobs === runner);
        ran.resolve();
      }),
    ]);
    const started = performance.now();
    await runner.enqueue('execute-run', { runId: 'run_1' });
    await ran.promise;
    expect(performance.now() - started).toBeLessThan(900);
    expect(seen).toEqual([{ runId: 'run_1' }, 1, false, true]);
    await eventually(async () => (await rows()).length === 0);
  });

  it('an api process enqueues and never runs; a worker on another node is woken', async () => {
    const ran: string[] = [];
    const api = await node([job(async () => void ran.push('api'))], { role: 'api' });
    await api.runner.enqueue('execute-run', { runId: 'before' });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(ran).toEqual([]);
    expect(await rows()).toHaveLength(1);
    await node([job(async ({ runId }) => void ran.push(runId))]);
    await eventually(() => ran.length === 1);
    const started = performance.now();
    await api.runner.enqueue('execute-run', { runId: 'after' });
    await eventually(() => ran.length === 2);
    expect(performance.now() - started).toBeLessThan(900);
    expect(ran).toEqual(['before', 'after']);
  });

  it('two workers share the work: each job once, neither idle, neither beyond its concurrency', async () => {
    const ran: string[] = [];
    const counts = [0, 0];
    const peaks = [0, 0];
    const worker = (index: 0 | 1) => {
      let running = 0;
      return job(async ({ runId }) => {
        running += 1;
        peaks[index] = Math.max(peaks[index] ?? 0, running);
        await new Promise((resolve) => setTimeout(resolve, 10));
        ran.push(runId);
        counts[index] = (counts[index] ?? 0) + 1;
        running -= 1;
      });
    };
    const api = await node([job(async () => undefined)], { role: 'api' });
    await node([worker(0)], { concurrency: 3 });
    await node([worker(1)], { concurrency: 3 });
    const ids = Array.from({ length: 200 }, (_, index) => `run_${index}`);
    await Promise.all(ids.map((runId) => api.runner.enqueue('execute-run', { runId })));
    await eventually(() => ran.length >= 200);
    expect(new Set(ran)).toEqual(new Set(ids));
    expect(ran).toHaveLength(200);
    expect(Math.min(...counts)).toBeGreaterThan(40);
    expect(peaks).toEqual([3, 3]);
  });

  it('a worker takes no more than it can start: another one gets the rest at once', async () => {
    const held = deferred();
    const here: string[] = [];
    const there: string[] = [];
    const busy = await node(
      [
        job(async ({ runId }) => {
          here.push(runId);
          await held.promise;
        }),
      ],
      { concurrency: 2 },
    );
    for (let index = 0; index < 6; index += 1)
      await busy.runner.enqueue('execute-run', { runId: `run_${index}` });
    await eventually(() => here.length === 2);
    await node([job(async ({ runId }) => void there.push(runId))], { concurrency: 2 });
    await eventually(() => there.length === 4);
    expect(new Set([...here, ...there]).size).toBe(6);
    held.resolve();
  });

  it('keeps the concurrency of each job, and lets no kind of job starve', async () => {
    const order: string[] = [];
    const peak = { narrow: 0, wide: 0 };
    const kind = (name: 'narrow' | 'wide', concurrency?: number) => {
      let running = 0;
      const run = async () => {
        running += 1;
        peak[name] = Math.max(peak[name], running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        order.push(name);
        running -= 1;
      };
      return job(run, { name, ...(concurrency === undefined ? {} : { concurrency }) });
    };
    const definitions = [kind('narrow', 1), kind('wide')];
    const api = await node(definitions, { role: 'api' });
    for (let index = 0; index < 30; index += 1) {
      await api.runner.enqueue('narrow', { runId: `n${index}` });
      await api.runner.enqueue('wide', { runId: `w${index}` });
    }
    await node(definitions, { concurrency: 2 });
    await eventually(() => order.length === 60);
    expect(peak.narrow).toBe(1);
    expect(peak.wide).toBeLessThanOrEqual(2);
    expect(order.slice(0, 30)).toContain('narrow');
    expect(order.slice(0, 30)).toContain('wide');
  });

  it('refuses a payload at enqueue, naming job and field and storing nothing', async () => {
    const { runner } = await node([job(async () => undefined)], { role: 'api' });
    await expect(runner.enqueue('execute-run', { runId: '' })).rejects.toThrow(/^Job execute-run: runId: /);
    await expect(runner.enqueue('execute-run', { runId: 'a', more: 1 })).rejects.toThrow(
      /Job execute-run: payload: /,
    );
    await expect(runner.enqueue('nobody', {})).rejects.toThrow('No job is called nobody');
    expect(await rows()).toEqual([]);
  });

  it('refuses a stored payload at run, naming the field in the log, and does not try again', async () => {
    const ran: string[] = [];
    const worker = await node([job(async ({ runId }) => void ran.push(runId))]);
    await database.orm.em
      .fork()
      .execute(
        `insert into jobs.agenda_jobs (name, next_run_at, data) values ('execute-run', now(), '{"runId": 7}')`,
      );
    await eventually(async () => (await rows()).length === 0);
    expect(ran).toEqual([]);
    expect(worker.lines.filter((line) => line['msg'] === 'job failed')).toMatchObject([
      { job: 'execute-run', err: { message: expect.stringContaining('runId: ') } },
    ]);
  });

  it('repeats a failed job as often as it asks for, counting attempts, and then lets it go', async () => {
    const attempts: number[] = [];
    const { runner, lines } = await node([
      job(
        async (_, { attempt }) => {
          attempts.push(attempt);
          throw new Error(`no luck ${attempt}`);
        },
        { retry: { attempts: 3, firstDelayMs: 10 } },
      ),
    ]);
    await runner.enqueue('execute-run', { runId: 'run_1' });
    await eventually(async () => attempts.length === 3 && (await rows()).length === 0);
    expect(attempts).toEqual([1, 2, 3]);
    expect(
      lines.filter((line) => 'job' in line).map((line) => [line['level'], line['runId'], line['attempt']]),
    ).toEqual([
      [40, 'run_1', 1],
      [40, 'run_1', 2],
      [50, 'run_1', 3],
    ]);
  });

  it('runs a recurring job over and over, on one of two workers at a time', async () => {
    let running = 0;
    let overlapped = false;
    let ticks = 0;
    const tick = defineJob({
      name: 'tick',
      payload: z.strictObject({}),
      every: 200,
      lockLifetimeMs: 2_000,
      async run() {
        running += 1;
        overlapped ||= running > 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        running -= 1;
        ticks += 1;
      },
    });
    await node([tick]);
    await node([tick]);
    await eventually(() => ticks >= 3);
    expect(overlapped).toBe(false);
    expect(await rows()).toMatchObject([{ name: 'tick', type: 'single' }]);
  });

  it('keeps a long job locked beyond its lock lifetime', async () => {
    const ran: string[] = [];
    const held = deferred();
    const long = () =>
      job(
        async ({ runId }) => {
          ran.push(runId);
          await held.promise;
        },
        { lockLifetimeMs: 1_000 },
      );
    const first = await node([long()]);
    await node([long()]);
    await first.runner.enqueue('execute-run', { runId: 'long' });
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    expect(ran).toEqual(['long']);
    held.resolve();
    await eventually(async () => (await rows()).length === 0);
  });

  it('drains: what runs ends, what waits stays for others', async () => {
    const held = deferred();
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
    const held = deferred();
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

  it('lives in a schema of its own that the entities do not know', async () => {
    const { runner } = await node([], { role: 'api' });
    expect(runner.healthy()).toBe(true);
    expect(await database.orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  it('several processes may prepare the store at once', async () => {
    await database.orm.em.fork().execute('drop schema jobs cascade');
    const nodes = await Promise.all(Array.from({ length: 5 }, () => node([], { role: 'worker' })));
    expect(nodes.map(({ runner }) => runner.healthy())).toEqual([true, true, true, true, true]);
    expect(nodes.flatMap(({ lines }) => lines.filter((line) => Number(line['level']) >= 40))).toEqual([]);
  });

  it('refuses two jobs of one name, and a lock lifetime nobody can keep', async () => {
    await expect(node([job(async () => undefined), job(async () => undefined)])).rejects.toThrow(TypeError);
    expect(() => job(async () => undefined, { lockLifetimeMs: 10 })).toThrow(TypeError);
    expect(() => job(async () => undefined, { every: 1_000 })).toThrow(/Job execute-run: runId: /);
  });
});
