import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type EngineFixture, execute, inline, openEngine, readParquet, sql } from './engine-fixture.js';
import { engineProcesses } from './engine-processes.js';

/** Hours of work that need no memory. */
const ENDLESS = sql('SELECT sum(hash(a.i, b.i)) AS s FROM range(10000000) a(i), range(10000000) b(i)');

let engine: EngineFixture;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

/** Resolves when a task has used the processor, so that it is certainly inside its statement. */
async function busy(pid: number): Promise<void> {
  const ticks = async () => {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  const start = await ticks();
  await eventually(async () => (await ticks()) >= start + 20);
}

async function onlyChild(): Promise<number> {
  const [pid] = await engineProcesses();
  if (pid === undefined) throw new Error('The engine has no child process.');
  return pid;
}

describe('a task that is aborted', () => {
  it('ends within a second as CANCELLED, and the session goes on', async () => {
    const controller = new AbortController();
    const task = engine.run('long', ENDLESS, [], controller.signal);
    const other = engine.run(
      'other',
      sql('SELECT count(*) AS n FROM range(100000000) t(i) WHERE hash(i) > 5'),
    );
    await busy(await onlyChild());
    const start = performance.now();
    controller.abort();
    await expect(task).rejects.toMatchObject({ name: 'EngineError', kind: 'CANCELLED', transient: false });
    expect(performance.now() - start).toBeLessThan(1_000);
    await expect(other).resolves.toMatchObject({ rows: 1 });
    expect(await engine.run('next', inline([{ a: 1 }]))).toMatchObject({ rows: 1 });
    expect((await readdir(engine.options.runDirectory)).filter((name) => name.includes('long'))).toEqual([]);
  });

  it('is a TIMEOUT when the signal says so', async () => {
    await expect(engine.run('slow', ENDLESS, [], AbortSignal.timeout(100))).rejects.toMatchObject({
      kind: 'TIMEOUT',
    });
  });

  it('does not start when it was aborted before', async () => {
    await expect(engine.run('never', inline([{ a: 1 }]), [], AbortSignal.abort())).rejects.toMatchObject({
      kind: 'CANCELLED',
    });
    expect(await readdir(engine.options.runDirectory)).not.toContain('never.parquet');
  });

  it('ends when the session is closed', async () => {
    const task = engine.run('long', ENDLESS);
    await busy(await onlyChild());
    const failed = expect(task).rejects.toMatchObject({ name: 'EngineError', kind: 'INTERNAL' });
    await engine.session.close();
    await failed;
    await expect(engine.run('late', inline([{ a: 1 }]))).rejects.toThrow(/closed/);
    expect(await engineProcesses()).toEqual([]);
  });
});

describe('an engine process that dies', () => {
  it('fails its tasks as transient, leaves no half result, and is replaced', async () => {
    await engine.run('kept', inline([{ a: 1 }]));
    const tasks = ['x', 'y'].map((id) => engine.run(id, ENDLESS));
    const pid = await onlyChild();
    await busy(pid);
    process.kill(pid, 'SIGKILL');
    const outcomes = await Promise.allSettled(tasks);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'INTERNAL', transient: true } });
      expect(outcome).toMatchObject({ reason: { message: expect.stringMatching(/killed by SIGKILL/) } });
    }
    const retried = await Promise.all(['x', 'y'].map((id) => engine.run(id, sql('FROM kept'), ['kept'])));
    expect(retried).toMatchObject([{ rows: 1 }, { rows: 1 }]);
    const [replacement, ...more] = await engineProcesses();
    expect(more).toEqual([]);
    const spills = (await readdir(engine.options.runDirectory)).filter((name) => name.startsWith('.spill'));
    expect(spills).toEqual([`.spill-${replacement}`]);
  });

  it('follows a parent that was killed, and the run is resumed from its files', async () => {
    const parent = startHost(engine);
    const lines = createInterface({ input: parent.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
    await lines.next();
    const [child] = await engineProcesses(parent.pid as number);
    if (child === undefined) throw new Error('The host has no engine process.');
    await busy(child);
    process.kill(parent.pid as number, 'SIGKILL');
    await once(parent, 'exit');
    await gone(child);
    expect(await readParquet(join(engine.options.runDirectory, 'first.parquet'))).toEqual([{ a: '1' }]);
    const names = await readdir(engine.options.runDirectory);
    expect(names.filter((name) => name.includes('second'))).toEqual([]);
    expect(await engine.run('second', sql('FROM first'), ['first'])).toMatchObject({ rows: 1 });
  });
});

describe('a signal to the whole process group', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s stops no task: that is for the parent to do',
    async (signal) => {
      const parent = startHost(engine);
      const pid = parent.pid as number;
      const lines = createInterface({ input: parent.stdout as NodeJS.ReadableStream })[
        Symbol.asyncIterator
      ]();
      await lines.next();
      const [child] = await engineProcesses(pid);
      if (child === undefined) throw new Error('The host has no engine process.');
      await busy(child);
      process.kill(-pid, signal);
      expect(await lines.next()).toEqual({ done: false, value: signal });
      await busy(child);
      process.kill(pid, 'SIGKILL');
      await gone(child);
    },
  );
});

/** A process and group of its own that opens a session, finishes one task, says so, and sticks in the second. */
function startHost({ options }: EngineFixture): ChildProcess {
  const { resolveConnection: _, ...plain } = options;
  const engineModule = fileURLToPath(new URL('../../../dist/engines/batch/batch-engine.js', import.meta.url));
  const script = `
    const { BatchEngine } = await import(${JSON.stringify(engineModule)});
    const session = await new BatchEngine().open({ ...${JSON.stringify(plain)}, resolveConnection: async () => { throw new Error('none'); } });
    const hooks = { signal: new AbortController().signal, log() {} };
    await session.execute({ id: 'first', inputs: [], spec: { kind: 'source', type: 'inline', rows: [{ a: 1 }] } }, hooks);
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log(signal));
    console.log('first done');
    await session.execute(${JSON.stringify({ id: 'second', inputs: [], spec: ENDLESS })}, hooks);`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
}

async function gone(pid: number): Promise<void> {
  await eventually(async () => {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    return state === undefined || state.includes(') Z ');
  });
}

describe('limits', () => {
  it('out of memory is an error of its own, and the session goes on', async () => {
    const small = await engine.open({ memoryLimitMb: 40, spillLimitMb: 10_000, threads: 1 });
    const hungry = sql(
      "SELECT list(i::VARCHAR || repeat('x', 100) ORDER BY hash(i)) AS l FROM range(5000000) t(i)",
    );
    await expect(execute(small, { id: 'hungry', inputs: [], spec: hungry })).rejects.toMatchObject({
      kind: 'OUT_OF_MEMORY',
      message: expect.stringContaining('more memory'),
    });
    expect(await execute(small, { id: 'modest', inputs: [], spec: inline([{ a: 1 }]) })).toMatchObject({
      rows: 1,
    });
  });

  it('spilling past its limit is DISK_FULL', async () => {
    const small = await engine.open({ memoryLimitMb: 200, spillLimitMb: 10 });
    const sorting = sql('SELECT i, md5(i::VARCHAR) AS h FROM range(6000000) t(i) ORDER BY h');
    await expect(execute(small, { id: 'sorting', inputs: [], spec: sorting })).rejects.toMatchObject({
      kind: 'DISK_FULL',
    });
  });

  it('leaves no spill directory after close', async () => {
    await engine.run('a', inline([{ a: 1 }]));
    await engine.session.close();
    expect(await readdir(engine.options.runDirectory)).toEqual(['a.parquet']);
  });
});

describe('opening', () => {
  it('says what is wrong with a run directory that cannot be made', async () => {
    await writeFile(join(engine.directory, 'file'), '');
    await expect(engine.open({ runDirectory: join(engine.directory, 'file', 'run') })).rejects.toMatchObject({
      name: 'EngineError',
      kind: 'INTERNAL',
      message: expect.stringContaining("run's directory"),
    });
  });

  it('fails a task whose connection is unknown', async () => {
    const spec = { kind: 'source', type: 'postgres', connection: 'nosuch', table: 't' } as const;
    await expect(engine.run('c', spec)).rejects.toMatchObject({
      kind: 'CONNECTION',
      message: 'Connection "nosuch" cannot be used: there is none of that name',
    });
  });
});
