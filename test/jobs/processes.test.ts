import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

describe('job processes', () => {
  let database: TestDatabase;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.orm.em
      .fork()
      .execute(
        'create table job_note (job_id text, pid int, what text, at timestamptz default clock_timestamp())',
      );
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await end(child, 'SIGKILL');
    await database.orm.em.fork().execute('truncate job_note');
    await database.orm.em.fork().execute('delete from jobs.agenda_jobs');
  });
  afterAll(() => database.close());

  async function start(role: 'api' | 'worker', takesMs = 0): Promise<ChildProcess> {
    const child = fork(
      new URL('./worker-process.ts', import.meta.url),
      [database.url, role, String(takesMs)],
      {
        execArgv: [],
      },
    );
    children.push(child);
    await once(child, 'message');
    return child;
  }

  async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
    return child.exitCode;
  }

  interface Note {
    job_id: string;
    pid: number;
    what: string;
  }
  const notes = (what: string): Promise<Note[]> =>
    database.orm.em.fork().execute('select * from job_note where what = ? order by at', [what]);

  it('ROLE splits them: the api process enqueues, two workers share the work, each job runs once', async () => {
    const [api, ...workers] = await Promise.all([start('api'), start('worker', 5), start('worker', 5)]);
    for (let index = 0; index < 100; index += 1) api.send(`job ${index}`);
    await eventually(async () => (await notes('ended')).length === 100);
    const ended = await notes('ended');
    expect(new Set(ended.map((note) => note.job_id)).size).toBe(100);
    const shares = workers.map(({ pid }) => ended.filter((note) => note.pid === pid).length);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(100);
    expect(Math.min(...shares)).toBeGreaterThan(10);
  });

  it('what a worker killed by SIGKILL was doing, another one does', async () => {
    const api = await start('api');
    const doomed = await start('worker', 60_000);
    for (const name of ['a', 'b', 'c']) api.send(name);
    await eventually(async () => (await notes('begun')).length === 2);
    await end(doomed, 'SIGKILL');
    const heir = await start('worker');
    await eventually(async () => (await notes('ended')).length === 3);
    const ended = await notes('ended');
    expect(ended.map((note) => note.job_id).sort()).toEqual(['a', 'b', 'c']);
    expect(ended.every((note) => note.pid === heir.pid)).toBe(true);
  });

  it('a worker told to end finishes what it does, takes no more, and exits', async () => {
    const api = await start('api');
    const leaving = await start('worker', 500);
    for (const name of ['a', 'b', 'c', 'd']) api.send(name);
    await eventually(async () => (await notes('begun')).length === 2);
    expect(await end(leaving, 'SIGTERM')).toBe(0);
    expect((await notes('ended')).length).toBe(2);
    expect((await notes('begun')).length).toBe(2);
    await start('worker');
    await eventually(async () => (await notes('ended')).length === 4);
  });
});
