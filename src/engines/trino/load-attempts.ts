import { setTimeout as delay } from 'node:timers/promises';
import { identifier, literal } from '../batch/sql-text.js';
import { EngineError } from '../engine-error.js';
import { TrinoFailure } from './trino-failure.js';

type Ask = (sql: string) => Promise<readonly (readonly unknown[])[]>;
type State = 'BEGUN' | 'FAILED' | 'DONE';

interface Note {
  source: string;
  state: string;
  rows: number;
}

const ABSENT: ReadonlySet<string> = new Set(['SCHEMA_NOT_FOUND', 'TABLE_NOT_FOUND']);
const POLL_MS = 500;
/** Trino ends a killed query within seconds. */
const MAX_POLLS = 60;

/**
 * Trino commits each statement by itself, so a note cannot be part of the write. Each attempt is noted before and after,
 * in `opsgraph.trino_load` of the target's catalog; what an attempt that left only the first note did is asked of
 * system.runtime.queries, where its source names it. When Trino has forgotten it, nobody can know, and the load is refused.
 */
export class LoadAttempts {
  readonly #table: string;
  readonly #where: string;
  readonly #values: string;

  constructor(
    private readonly ask: Ask,
    catalog: string,
    runId: string,
    private readonly taskId: string,
  ) {
    this.#table = [catalog, 'opsgraph', 'trino_load'].map(identifier).join('.');
    this.#where = `run_id = ${literal(runId)} AND task_id = ${literal(taskId)}`;
    this.#values = `${literal(runId)}, ${literal(taskId)}`;
  }

  /** Rows that an earlier attempt has written; undefined when none has, and a new one may begin. Throws EngineError TARGET. */
  async settled(): Promise<number | undefined> {
    const notes = await this.#notes();
    const done = notes.find(({ state }) => state === 'DONE');
    if (done) return done.rows;
    const failed = new Set(notes.flatMap(({ state, source }) => (state === 'FAILED' ? [source] : [])));
    for (const { source } of notes) {
      if (failed.has(source)) continue;
      const state = await this.#endOf(source);
      if (state !== 'FINISHED' && state !== 'FAILED') throw this.#unknown();
      await this.note(state === 'FINISHED' ? 'DONE' : 'FAILED', source);
      if (state === 'FINISHED') return 0;
    }
    return undefined;
  }

  /** @param source of the attempt's statement */
  async note(state: State, source: string, rows = 0): Promise<void> {
    await this.ask(
      `INSERT INTO ${this.#table} VALUES (${this.#values}, ${literal(source)}, '${state}', BIGINT '${rows}')`,
    );
  }

  #unknown(): EngineError {
    return new EngineError(
      'TARGET',
      `An earlier attempt at "${this.taskId}" was cut off, and Trino no longer tells whether it wrote. See to the table, then start a new run.`,
    );
  }

  async #notes(): Promise<Note[]> {
    const notes = `SELECT source, state, rows FROM ${this.#table} WHERE ${this.#where}`;
    try {
      const rows = await this.ask(notes);
      return rows.map(([source, state, count]) => ({
        source: String(source),
        state: String(state),
        rows: Number(count),
      }));
    } catch (error) {
      if (!(error instanceof TrinoFailure && ABSENT.has(error.errorName))) throw error;
    }
    const schema = this.#table.slice(0, this.#table.lastIndexOf('.'));
    await this.ask(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await this.ask(
      `CREATE TABLE IF NOT EXISTS ${this.#table} (run_id varchar(64), task_id varchar(64), source varchar(256), state varchar(8), rows bigint)`,
    );
    return [];
  }

  /** The state it ended in; undefined when Trino does not know it. One that still runs is killed: nobody waits for it. */
  async #endOf(source: string): Promise<string | undefined> {
    const query = `SELECT query_id, state FROM system.runtime.queries WHERE source = ${literal(source)}`;
    for (let polls = 0; polls < MAX_POLLS; polls += 1) {
      const [row] = await this.ask(query);
      if (!row) return undefined;
      const [id, state] = row.map(String);
      if (state === 'FINISHED' || state === 'FAILED') return state;
      const kill = `CALL system.runtime.kill_query(query_id => ${literal(id ?? '')}, message => 'its worker is gone')`;
      // It may have ended meanwhile, which the next look tells.
      await this.ask(kill).catch((error: unknown) => {
        if (!(error instanceof TrinoFailure)) throw error;
      });
      await delay(POLL_MS);
    }
    throw new EngineError('TARGET', `An earlier attempt at "${this.taskId}" still runs in Trino.`, {
      transient: true,
    });
  }
}
