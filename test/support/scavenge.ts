import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

/** Bytes that `work` leaves on the heap once it is over and the young generation was collected, but not the old one. */
export async function keptByScavenges(work: () => Promise<void>): Promise<number> {
  collect();
  const before = process.memoryUsage().heapUsed;
  await work();
  // What lives is copied once and only then old; a third for what the second one sets free.
  for (let times = 0; times < 3; times += 1) collect({ type: 'minor' });
  return process.memoryUsage().heapUsed - before;
}
