import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type EngineFixture, inline, openEngine } from './engine-fixture.js';
import { engineProcesses } from './engine-processes.js';

let engine: EngineFixture;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

/** Of each thread: `nice` is the 19th field (man 5 proc_pid_stat). */
async function nicenesses(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
  return (await Promise.all(stats)).map((stat) =>
    Number(stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[16]),
  );
}

it('lets everybody else go first, thread by thread and as a session', async () => {
  await engine.run('a', inline([{ a: 1 }]));
  const [pid] = await engineProcesses();
  if (pid === undefined) throw new Error('The engine has no process.');
  expect([...new Set(await nicenesses(pid))]).toEqual([19]);
  const autogroup = () => readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => undefined);
  await eventually(async () => / nice 19\n$/.test((await autogroup()) ?? ' nice 19\n'));
});
