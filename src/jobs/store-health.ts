import type { Logger } from 'pino';

export interface StoreHealth {
  healthy(): boolean;
  /** Resolves once there was a first answer, good or bad. */
  known(): Promise<void>;
  /** Asks now. */
  look(): Promise<void>;
  /** The outcome of any other call to the store is as good as a ping. */
  report(error?: unknown): void;
  close(): Promise<void>;
}

const PING_MS = { healthy: 1_000, away: 200 };

/** Watches a store by asking it: known within a second when it goes, within 200 ms when it is back. Says each once. */
export function watchStore(ping: () => Promise<void>, log: Logger): StoreHealth {
  let healthy = false;
  let known = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  function report(error?: unknown): void {
    const now = error === undefined;
    if (closed || (known && now === healthy)) return;
    if (now && known) log.info('job store is back');
    if (!now) log.error({ err: error }, 'job store is away');
    known = true;
    healthy = now;
  }

  async function ask(): Promise<void> {
    clearTimeout(timer);
    try {
      await ping();
      report();
    } catch (error) {
      report(error);
    }
    looking = undefined;
    if (!closed) timer = setTimeout(look, healthy ? PING_MS.healthy : PING_MS.away);
  }

  function look(): Promise<void> {
    looking ??= ask();
    return looking;
  }

  const first = look();
  return {
    healthy: () => healthy,
    known: () => first,
    report,
    async look() {
      // One under way may have asked before what this caller waits for.
      await looking;
      await look();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
