import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Followed, RunFeed, WakeChannel } from '../../context.js';
import { nativeTypes } from '../../database/native-pool.js';
import type { RunState, RunStatus } from '../../entities/runs/run-enums.js';
import type { RunMessage } from '../../entities/runs/run-message.js';
import { runTopic } from '../../events/run-topics.js';
import { isFinal, runStatus } from './run-status.js';

const BATCH = 1_000;
/** Covers a lost wake-up. */
const POLL_MS = 2_000;

const finalStatuses: ReadonlySet<RunStatus> = new Set(
  (['SUCCESS', 'FAILED', 'CANCELLED'] as const).map((state) => runStatus(state)),
);

/** One watcher. It is given no more than it has room for; what is left over stays in the database until it has. */
class Watcher implements AsyncIterableIterator<RunMessage, undefined> {
  #buffer: RunMessage[] = [];
  #waiting: ((result: IteratorResult<RunMessage, undefined>) => void)[] = [];
  #ended = false;

  constructor(
    public cursor: number,
    private readonly onRoom: () => void,
    private readonly onLeave: (watcher: Watcher) => void,
  ) {}

  hasRoom(): boolean {
    return this.#buffer.length === 0;
  }

  offer(messages: readonly RunMessage[]): void {
    for (const message of messages) {
      if (this.#ended || message.seq <= this.cursor) continue;
      this.cursor = message.seq;
      const waiting = this.#waiting.shift();
      if (waiting) waiting({ value: message, done: false });
      else this.#buffer.push(message);
      if (message.type === 'run' && finalStatuses.has(message.body['status'] as RunStatus)) this.end();
    }
  }

  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ value: undefined, done: true });
    this.onLeave(this);
  }

  next(): Promise<IteratorResult<RunMessage, undefined>> {
    const message = this.#buffer.shift();
    if (message) {
      if (this.#buffer.length === 0 && !this.#ended) this.onRoom();
      return Promise.resolve({ value: message, done: false });
    }
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<RunMessage, undefined>> {
    this.#buffer = [];
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** All watchers of one run on this node: they share each read. */
class WatchedRun {
  readonly watchers = new Set<Watcher>();
  #reading = false;
  #again = false;
  readonly #close: () => void;

  constructor(
    private readonly runId: string,
    private readonly pool: Pool,
    private readonly log: Logger,
    wake: WakeChannel,
  ) {
    const unsubscribe = wake.on(runTopic(runId), () => void this.read());
    const timer = setInterval(() => void this.read(), POLL_MS);
    timer.unref();
    this.#close = () => {
      unsubscribe();
      clearInterval(timer);
    };
  }

  close(): void {
    this.#close();
    for (const watcher of [...this.watchers]) watcher.end();
  }

  async read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again) {
        this.#again = false;
        if (await this.#readOnce()) this.#again = true;
      }
    } catch (error) {
      this.log.warn({ err: error, runId: this.runId }, 'run messages not read, trying again');
    } finally {
      this.#reading = false;
    }
  }

  /** True when there may be more for somebody who has room. */
  async #readOnce(): Promise<boolean> {
    const ready = [...this.watchers].filter((watcher) => watcher.hasRoom());
    if (ready.length === 0) return false;
    const after = Math.min(...ready.map((watcher) => watcher.cursor));
    const { rows } = await this.pool.query<RunMessage>({
      name: 'run-messages-after',
      text: `SELECT "run_id" AS "runId", "seq", "type", "body", "timestamp" FROM "run_message"
        WHERE "run_id" = $1 AND "seq" > $2 ORDER BY "seq" LIMIT ${BATCH}`,
      values: [this.runId, after],
      types: nativeTypes,
    });
    for (const watcher of ready) watcher.offer(rows);
    if (rows.length === 0) await this.#endIfOver();
    return rows.length === BATCH;
  }

  /** A deleted run says nothing more, and neither does one whose last message was already seen. */
  async #endIfOver(): Promise<void> {
    const { rows } = await this.pool.query<{ state: RunState; lastSeq: number }>(
      'SELECT "state", "last_seq" AS "lastSeq" FROM "run" WHERE "id" = $1',
      [this.runId],
    );
    const run = rows[0];
    for (const watcher of [...this.watchers]) {
      if (!run || (isFinal(run.state) && watcher.cursor >= run.lastSeq)) watcher.end();
    }
  }
}

export interface OpenRunFeed extends RunFeed {
  close(): void;
}

/** Knows nothing of tenants: whoever follows a run has been let in to it before. */
export function createRunFeed(options: { pool: Pool; wake: WakeChannel; log: Logger }): OpenRunFeed {
  const { pool, wake, log } = options;
  const watched = new Map<string, WatchedRun>();

  function leave(runId: string, watcher: Watcher): void {
    const run = watched.get(runId);
    if (!run?.watchers.delete(watcher) || run.watchers.size > 0) return;
    watched.delete(runId);
    run.close();
  }

  return {
    follow(runId, after): Followed<RunMessage> {
      const run = watched.get(runId) ?? new WatchedRun(runId, pool, log, wake);
      watched.set(runId, run);
      const read = () => void run.read();
      const watcher = new Watcher(after, read, (left) => leave(runId, left));
      run.watchers.add(watcher);
      read();
      return watcher;
    },
    close() {
      for (const run of [...watched.values()]) run.close();
      watched.clear();
    },
  };
}
