import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseAway } from '../../database/connection-error.js';
import type { LogLevel } from '../../engines/engine.js';
import { ConnectionSecrets } from './connection-secrets.js';
import { type JournalEntry, LeaseLost, type RunJournal } from './run-journal.js';
import { LEASE_SECONDS } from './run-lease.js';
import type { NewRunMessage } from './run-message-body.js';

const FLUSH_MS = 100;
const FLUSH_LINES = 500;
/** A pipeline that logs without end must not fill the database. */
const MAX_LINES_PER_RUN = 10_000;
const MAX_MESSAGE_CHARACTERS = 8_192;
/** Fields that hold words of drivers, servers and authors. */
const wordy: ReadonlySet<string> = new Set(['error', 'message', 'reason']);

export interface LogLine {
  level: LogLevel;
  message: string;
  taskId?: string;
  attempt?: number;
}

/**
 * The journal in order: log lines are gathered for a moment and go ahead of the next change, everything is written
 * one after the other, and a database that is away for a while is waited for as long as the lease may hold.
 */
export class RunRecorder {
  /** Of the connections that tasks were given. */
  readonly secrets = new ConnectionSecrets();
  #lines: NewRunMessage[] = [];
  #queue: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly journal: RunJournal,
    private readonly onFailure: (error: unknown) => void,
    /** Log lines that earlier workers wrote count as well. */
    private linesWritten: number,
  ) {}

  log(line: LogLine): void {
    if (this.linesWritten > MAX_LINES_PER_RUN) return;
    this.linesWritten += 1;
    const full = this.linesWritten > MAX_LINES_PER_RUN;
    const body = full
      ? { level: 'WARN' as const, message: `more than ${MAX_LINES_PER_RUN} log lines: the rest is left out` }
      : line;
    this.#lines.push({ type: 'log', body });
    if (this.#lines.length >= FLUSH_LINES) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  /** Written when it resolves. @throws LeaseLost, or what the database said when it stayed away */
  record(entry: JournalEntry): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines;
    this.#lines = [];
    const told = this.#fitToTell({ ...entry, messages: [...lines, ...entry.messages] });
    const written = this.#queue.then(() => this.#append(told));
    this.#queue = written.catch(() => undefined);
    return written;
  }

  /** Written soon; what cannot be written is a failure of the run. */
  note(entry: JournalEntry): void {
    this.record(entry).catch((error: unknown) => this.onFailure(error));
  }

  /** Writes the lines that are still waiting. */
  async close(): Promise<void> {
    if (this.#lines.length > 0) this.#flush();
    clearTimeout(this.#timer);
    await this.#queue;
  }

  #flush(): void {
    this.note({ messages: [] });
  }

  /** Without secrets, and as PostgreSQL can keep it: no text of it may hold a NUL or half a character. */
  #fitToTell(entry: JournalEntry): JournalEntry {
    return JSON.parse(JSON.stringify(entry), (name, value: unknown) => {
      if (typeof value !== 'string') return value;
      const words = wordy.has(name) ? this.secrets.conceal(value).slice(0, MAX_MESSAGE_CHARACTERS) : value;
      return words.replaceAll('\0', '\uFFFD').toWellFormed();
    });
  }

  async #append(entry: JournalEntry): Promise<void> {
    const giveUpAt = Date.now() + LEASE_SECONDS * 1000;
    for (let wait = 50; ; wait = Math.min(wait * 2, 2_000)) {
      try {
        return await this.journal.append(entry);
      } catch (error) {
        if (error instanceof LeaseLost || !isDatabaseAway(error) || Date.now() + wait > giveUpAt) throw error;
        await delay(wait);
      }
    }
  }
}
