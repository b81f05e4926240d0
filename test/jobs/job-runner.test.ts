import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { defineJob } from '../../src/jobs/define-job.js';
import { eventually } from '../support/eventually.js';
import { type JobHouse, runJob as job, openJobHouse } from './job-house.js';

describe('job runner', () => {
  let house: JobHouse;
  beforeAll(async () => {
    house = await openJobHouse();
  });
  afterEach(() => house.clear());
  afterAll(() => house.close());

  const node: JobHouse['node'] = (...process) => house.node(...process);
  const rows = () => house.rows();

  it('runs a job soon after it was enqueued, with its payload, and leaves no row', async () => {
    const ran = Promise.withResolvers<void>();
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

  it('holds the process open no longer than a second after a job, whatever its lock lifetime', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const ran = Promise.withResolvers<void>();
    const { runner } = await node([job(async () => ran.resolve(), { lockLifetimeMs: 10_000 })]);
    await runner.enqueue('execute-run', { runId: 'run_1' });
    await ran.promise;
    await house.clear();
    await eventually(() => timers() <= before, 1_000);
  });

  it('an api process enqueues and never runs; a worker on another node is woken', async () => {
    const ran: string[] = [];
    const clocks = jest.spyOn(globalThis, 'setInterval');
    const polls = () => clocks.mock.calls.filter(([, ms]) => ms === 1_000).length;
    const api = await node([job(async () => void ran.push('api'))], { role: 'api' });
    await api.runner.enqueue('execute-run', { runId: 'before' });
    expect(polls()).toBe(0);
    expect(await rows()).toMatchObject([{ locked_at: null }]);
    await node([job(async ({ runId }) => void ran.push(runId))]);
    expect(polls()).toBe(1);
    clocks.mockRestore();
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
    const held = Promise.withResolvers<void>();
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
    await house.database.orm.em
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
    const held = Promise.withResolvers<void>();
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
    const lockedAt = async () => Date.parse(String((await rows())[0]?.['locked_at'])) || 0;
    await eventually(async () => (await lockedAt()) > 0);
    const takenAt = await lockedAt();
    await eventually(async () => (await lockedAt()) > takenAt + 1_000);
    // Both are woken and look for what is due, the longest due first.
    await first.runner.enqueue('execute-run', { runId: 'next' });
    await eventually(() => ran.includes('next'));
    held.resolve();
    await eventually(async () => (await rows()).length === 0);
    expect(ran).toEqual(['long', 'next']);
  });

  it('lives in a schema of its own that the entities do not know', async () => {
    const { runner } = await node([], { role: 'api' });
    expect(runner.healthy()).toBe(true);
    expect(await house.database.orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  it('several processes may prepare the store at once', async () => {
    await house.database.orm.em.fork().execute('drop schema jobs cascade');
    const nodes = await Promise.all(Array.from({ length: 5 }, () => node([], { role: 'worker' })));
    expect(nodes.map(({ runner }) => runner.healthy())).toEqual([true, true, true, true, true]);
    expect(nodes.flatMap(({ lines }) => lines.filter((line) => Number(line['level']) >= 40))).toEqual([]);
  });

  it('refuses two jobs of one name, and a lock lifetime nobody can keep', async () => {
    await expect(node([job(async () => undefined), job(async () => undefined)])).rejects.toThrow(TypeError);
    expect(() => job(async () => undefined, { lockLifetimeMs: 10 })).toThrow(TypeError);
    expect(() => job(async () => undefined, { lockLifetimeMs: 60_000 })).toThrow(TypeError);
    expect(() => job(async () => undefined, { every: 1_000 })).toThrow(/Job execute-run: runId: /);
  });
});
