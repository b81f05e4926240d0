import { setTimeout as delay } from 'node:timers/promises';
import { identifier, literal } from '../batch/sql-text.js';
import { EngineError } from '../engine-error.js';
import { TrinoFailure } from './trino-failure.js';

type Ask = (sql: string) => Promise<readonly (readonly unknown[])[]>;
type State = 'BEGUN' | 'FAILED' | 'DONE';

const ABSENT: ReadonlySet<string> = new Set(['SCHEMA_NOT_FOUND', 'TABLE_NOT_FOUND']);
const POLL_MS = 500;
/** Trino ends a killed query within seconds. */
const MAX_POLLS = 60;

/**
 * Trino commits each statement by itself, so a note cannot be part of the write. It is made before and after, in
 * `opsgraph.trino_load` of the target's catalog; what an attempt that left only the first one did is asked of
 * system.runtime.queries. When Trino has forgotten it, nobody can know, and the load is refused.
 */
export class LoadAttempts {
  readonly #table: string;
  readonly #where: string;
  readonly #values: string;

  /** @param source under which the writes of this task run in Trino */
  constructor(
    private readonly ask: Ask,
    catalog: string,
    runId: string,
    private readonly taskId: string,
    private readonly source: string,
  ) {
    this.#table = [catalog, 'opsgraph', 'trino_load'].map(identifier).join('.');
    this.#where = `run_id = ${literal(runId)} AND task_id = ${literal(taskId)}`;
    this.#values = `${literal(runId)}, ${literal(taskId)}`;
  }

  /** Rows that an earlier attempt has written; undefined when none has, and a new one may begin. Throws EngineError TARGET. */
  async settled(): Promise<number | undefined> {
    const notes = await this.#notes();
    const done = notes.find(([state]) => state === 'DONE');
    if (done) return Number(done[1]);
    const count = (wanted: State) => notes.filter(([state]) => state === wanted).length;
    const open = count('BEGUN') - count('FAILED');
    if (open <= 0) return undefined;
    const states = await this.#statesOfQueries();
    if (states.includes('FINISHED')) {
      await this.#note('DONE');
      return 0;
    }
    // Every attempt with a note has a query that failed, so none of them is unaccounted for.
    if (states.length >= count('BEGUN')) {
      for (let left = open; left > 0; left -= 1) await this.#note('FAILED');
      return undefined;
    }
    throw new EngineError(
      'TARGET',
      `An earlier attempt at "${this.taskId}" was cut off, and Trino no longer tells whether it wrote. See to the table, then start a new run.`,
    );
  }

  begun(): Promise<void> {
    return this.#note('BEGUN');
  }

  failed(): Promise<void> {
    return this.#note('FAILED');
  }

  done(rows: number): Promise<void> {
    return this.#note('DONE', rows);
  }

  async #note(state: State, rows = 0): Promise<void> {
    await this.ask(`INSERT INTO ${this.#table} VALUES (${this.#values}, '${state}', BIGINT '${rows}')`);
  }

  async #notes(): Promise<readonly (readonly unknown[])[]> {
    const notes = `SELECT state, rows FROM ${this.#table} WHERE ${this.#where}`;
    try {
      return await this.ask(notes);
    } catch (error) {
      if (!(error instanceof TrinoFailure && ABSENT.has(error.errorName))) throw error;
    }
    const schema = this.#table.slice(0, this.#table.lastIndexOf('.'));
    await this.ask(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await this.ask(
      `CREATE TABLE IF NOT EXISTS ${this.#table} (run_id varchar(64), task_id varchar(64), state varchar(8), rows bigint)`,
    );
    return [];
  }

  /** Once all have ended; those that still run are killed, since nobody waits for them. */
  async #statesOfQueries(): Promise<string[]> {
    const queries = `SELECT query_id, state FROM system.runtime.queries WHERE source = ${literal(this.source)}`;
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      const rows = (await this.ask(queries)).map(([id, state]) => ({ id: String(id), state: String(state) }));
      const running = rows.filter(({ state }) => state !== 'FINISHED' && state !== 'FAILED');
      if (running.length === 0) return rows.map(({ state }) => state);
      for (const { id } of running) {
        const kill = `CALL system.runtime.kill_query(query_id => ${literal(id)}, message => 'its worker is gone')`;
        // It may have ended meanwhile, which the next look tells.
        await this.ask(kill).catch((error: unknown) => {
          if (!(error instanceof TrinoFailure)) throw error;
        });
      }
      await delay(POLL_MS);
    }
    throw new EngineError('TARGET', `An earlier attempt at "${this.taskId}" still runs in Trino.`, {
      transient: true,
    });
  }
}
