import { LRUCache } from 'lru-cache';
import type { Services } from '../../context.js';

/** How old a written time of use may be. */
export const WRITTEN_EVERY_MS = 60_000;
/** For so long uses are collected, to be written by one statement. */
const COLLECTED_MS = 1_000;
const REMEMBERED = 10_000;

type Needs = Pick<Services, 'orm' | 'now' | 'log'>;

/** Writes when something was last used, without a statement per use. */
export interface LastUse {
  /** Costs a look-up; each thing is written at most once a minute. */
  note(id: string): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

export function createLastUse(
  services: Needs,
  what: string,
  write: (services: Needs, ids: readonly string[]) => Promise<void>,
): LastUse {
  const { now, log } = services;
  const writtenAt = new LRUCache<string, number>({ max: REMEMBERED });
  let collected = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    timer = undefined;
    const ids = [...collected];
    collected = new Set();
    if (ids.length === 0) return;
    try {
      await write(services, ids);
    } catch (error) {
      // The next use writes it; a time of use is no reason to fail a request.
      for (const id of ids) writtenAt.delete(id);
      log.debug({ err: error }, `the last use of ${what} could not be written`);
    }
  }

  return {
    note(id) {
      const at = now().getTime();
      const last = writtenAt.get(id);
      if (last !== undefined && at - last < WRITTEN_EVERY_MS) return;
      writtenAt.set(id, at);
      collected.add(id);
      timer ??= setTimeout(() => {
        writing = flush();
      }, COLLECTED_MS).unref();
    },
    async close() {
      clearTimeout(timer);
      await writing;
      await flush();
    },
  };
}
