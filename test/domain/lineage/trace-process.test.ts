import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { BoundsExceeded } from '../../../src/bounded-process.js';
import { compiledModule } from '../../../src/compiled-module.js';
import { type TraceWork, traceProcess } from '../../../src/domain/lineage/trace-process.js';
import type { Task } from '../../../src/domain/pipelines/index.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';
import { engineProcesses } from '../../engines/batch/engine-processes.js';
import { expectTheEventLoopFree } from '../../support/event-loop.js';

const DATASET = { namespace: 'file', name: '/lake/a.parquet' };
const never = new AbortController().signal;

/** A file read by one piece of SQL as `a`, and written. */
function workOf(sql: string, width: number): TraceWork {
  const names = Array.from({ length: width }, (_, index) => ({ name: `c${index}`, type: 'INTEGER' }));
  const task = (id: string, spec: object, inputs: string[]): Task => {
    const full = spec as TaskSpec;
    return { id, spec: full, kind: full.kind, type: full.type, inputs, dependsOn: inputs, level: 0 };
  };
  return {
    tasks: [
      task('a', { kind: 'source', type: 'file', path: 'a.parquet' }, []),
      task('b', { kind: 'transformation', type: 'sql', sql }, ['a']),
      task('t', { kind: 'target', type: 'file', path: 't.csv' }, ['b']),
    ],
    columns: new Map([
      ['a', names],
      ['b', names],
      ['t', names],
    ]),
    datasets: new Map([['a', DATASET]]),
  };
}

const columnsOf = (width: number, text: (name: string) => string) =>
  Array.from({ length: width }, (_, index) => text(`c${index}`)).join(', ');
const unions = (branches: number, width: number) =>
  Array(branches)
    .fill(`SELECT ${columnsOf(width, (name) => name)} FROM a`)
    .join(' UNION ALL ');

/** Not too large to be tried, and tried it takes 10 s of an idle processor. */
const endless = () => workOf(unions(50, 20), 20);

async function fieldsOf(work: TraceWork): Promise<number | undefined> {
  const answer = await traceProcess.run(work, never);
  if ('tooLarge' in answer) throw new Error(answer.tooLarge);
  return answer.get('t')?.size;
}

describe('column lineage beside the server', () => {
  expectTheEventLoopFree();

  it('is found for a wide table', async () => {
    const sql = `SELECT ${columnsOf(200, (name) => `coalesce(${name}, 0) + 1 AS ${name}`)} FROM a`;
    const answer = await traceProcess.run(workOf(sql, 200), never);
    if ('tooLarge' in answer) throw new Error(answer.tooLarge);
    expect(answer.get('t')?.size).toBe(200);
    expect(answer.get('t')?.get('c199')).toEqual([
      { dataset: DATASET, field: 'c199', subtype: 'TRANSFORMATION', masking: false },
    ]);
  });

  it('is not tried for too much', async () => {
    expect(await traceProcess.run(workOf(unions(300, 1), 1), never)).toEqual({
      tooLarge: 'SQL of 300 SELECTs, 1 columns wide',
    });
    expect(await traceProcess.run(workOf(`SELECT '${'x'.repeat(200_000)}' AS c0 FROM a`, 1), never)).toEqual({
      tooLarge: expect.stringMatching(/^SQL of 2000\d\d characters$/),
    });
  });

  it('is given up at the deadline, and the next is found', async () => {
    const late = traceProcess.run(endless(), never);
    const next = fieldsOf(workOf('SELECT c0 FROM a', 1));
    await expect(late).rejects.toThrow(new BoundsExceeded('not done within 3000 ms'));
    expect(await next).toBe(1);
  });

  it('is given up when nobody wants it any more, under way or waiting', async () => {
    const ending = new AbortController();
    const both = [traceProcess.run(endless(), ending.signal), traceProcess.run(endless(), ending.signal)];
    ending.abort(new Error('the worker ends'));
    for (const each of both) await expect(each).rejects.toThrow('the worker ends');
    await expect(traceProcess.run(endless(), ending.signal)).rejects.toThrow('the worker ends');
    expect(await fieldsOf(workOf('SELECT c0 FROM a', 1))).toBe(1);
  });

  it('leaves it to the server to heed the signals of a service manager', async () => {
    await fieldsOf(workOf('SELECT c0 FROM a', 1));
    const pids = await engineProcesses(process.pid, 'lineage/trace-child.js');
    expect(pids).toHaveLength(1);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(Number(pids[0]), signal);
    expect(await fieldsOf(workOf('SELECT c0 FROM a', 1))).toBe(1);
    expect(await engineProcesses(process.pid, 'lineage/trace-child.js')).toEqual(pids);
  });

  it('holds no process open', async () => {
    const script = `data:text/javascript,
      import { traceProcess } from ${JSON.stringify(`file://${compiledModule('domain/lineage/trace-process.js')}`)};
      const work = { tasks: [], columns: new Map(), datasets: new Map() };
      await traceProcess.run(work, new AbortController().signal);
      process.send('found');`;
    const child = fork('-e', ['0'], { execArgv: ['--import', script.replaceAll('\n', '')] });
    const exit = once(child, 'exit');
    const said: unknown[] = [];
    child.on('message', (message) => said.push(message));
    expect(await exit).toEqual([0, null]);
    expect(said).toEqual(['found']);
  });
});
