import { EventEmitter } from 'node:events';
import pLimit from 'p-limit';
import { unavailable } from '../../errors.js';
import { transactional, type Unit, type WritingContext } from '../../events/transaction.js';

/** So that whoever reads meanwhile is answered in between, as docs/decisions/runs-wait-their-turn.md tells with figures. */
const AT_A_TIME = 1;
/** Six to ten seconds' worth. */
const MAX_WAITING = 1_000;

const turns = pLimit(AT_A_TIME);
const starts = new EventEmitter<{ over: [] }>().setMaxListeners(0);
let underWay = 0;

/**
 * transactional() for what starts a run, in the order in which this process is asked. Not to be called in a transaction,
 * which those before it may wait for.
 * @throws SERVICE_UNAVAILABLE, with nothing started, when 1,000 wait
 */
export function startInTurn<T>(context: WritingContext, work: (unit: Unit) => Promise<T>): Promise<T> {
  return inTurn(() => transactional(context, work));
}

export async function inTurn<T>(start: () => Promise<T>): Promise<T> {
  if (turns.pendingCount >= MAX_WAITING) throw unavailable('start of runs', 1);
  underWay += 1;
  try {
    return await turns(start);
  } finally {
    underWay -= 1;
    if (underWay === 0) starts.emit('over');
  }
}

/**
 * Resolves once no start waits in this process, and after `ms` at the latest: runs that are carried out meanwhile would take
 * from those that are accepted, and from whoever reads, the processors that these need for a moment.
 */
export async function startsOver(ms: number): Promise<void> {
  if (underWay === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  starts.once('over', resolve);
  await promise;
  clearTimeout(timer);
  starts.off('over', resolve);
}
