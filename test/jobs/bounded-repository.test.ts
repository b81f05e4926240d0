import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { JobParameters, JobRepository } from 'agenda';
import { boundRepository } from '../../src/jobs/bounded-repository.js';

const NOW = new Date('2026-01-02T03:04:05.678Z');

/** A store with these jobs due, and what is told of room in it. */
function withDue(...due: { _id: string; name: string }[]) {
  const told: string[] = [];
  const store = {
    getNextJobToRun: async (name: string) => {
      const index = due.findIndex((job) => job.name === name);
      return index < 0 ? undefined : due.splice(index, 1)[0];
    },
    saveJobState: async () => undefined,
  } as unknown as JobRepository;
  const limits = { total: 1, perJob: new Map<string, number>() };
  const bounded = boundRepository(store, limits, new Map(), (name) => told.push(name));
  const ask = (name: string) => bounded.getNextJobToRun(name, NOW, NOW, NOW, undefined);
  const end = (job: JobParameters | undefined) =>
    bounded.saveJobState({ ...job, lockedAt: undefined } as JobParameters, undefined);
  /** What was told of since the last question. */
  const toldOf = async () => {
    await turn();
    return told.splice(0);
  };
  return { ask, end, toldOf };
}

it('a place that one kind of job has no use for is offered to those that were refused it meanwhile', async () => {
  const { ask, end, toldOf } = withDue({ _id: '1', name: 'run' }, { _id: '2', name: 'run' });
  const first = await ask('run');
  expect(first?._id).toBe('1');
  expect([await ask('sweep'), await ask('run')]).toEqual([undefined, undefined]);
  await toldOf();
  expect([await ask('sweep'), await ask('run')]).toEqual([undefined, undefined]);

  await end(first);
  expect(await toldOf()).toEqual(['sweep', 'run']);
  expect(await Promise.all([ask('sweep'), ask('run')])).toEqual([undefined, undefined]);
  expect(await toldOf()).toEqual(['run']);
  expect((await ask('run'))?._id).toBe('2');
});

it('a place that nobody has a use for is not offered again', async () => {
  const { ask, toldOf } = withDue();
  expect(await Promise.all([ask('sweep'), ask('run')])).toEqual([undefined, undefined]);
  expect(await toldOf()).toEqual(['run']);
  expect(await ask('run')).toBeUndefined();
  expect(await toldOf()).toEqual([]);
});
