import { randomUUID } from 'node:crypto';
import { abortError } from '../batch/abort.js';
import { toEngineError } from '../batch/classify-error.js';
import type {
  EngineSession,
  EngineTask,
  ResultColumn,
  SessionOptions,
  TaskHooks,
  TaskOutcome,
  WithinOutcome,
} from '../engine.js';
import { EngineError } from '../engine-error.js';
import { GraphQuery, type Place, qualifiedName } from './graph-query.js';
import { LoadAttempts } from './load-attempts.js';
import { TrinoFailure } from './trino-failure.js';
import { catalogOf, type TrinoSettings } from './trino-settings.js';
import { type StatementResult, TrinoStatements } from './trino-statements.js';
import { type TrinoTargetSpec, writeStatement } from './write-statement.js';

type Run = (sql: string) => Promise<StatementResult>;

/** Of notes and descriptions; each write has one that names run, task and attempt. */
const SOURCE = 'opsgraph';
const NOTE_TIMEOUT_MS = 30_000;

export class TrinoSession implements EngineSession {
  readonly #statements: TrinoStatements;
  readonly #closed = new AbortController();

  constructor(
    private readonly settings: TrinoSettings,
    private readonly options: SessionOptions,
  ) {
    this.#statements = new TrinoStatements(settings);
  }

  /** The target of a graph with everything else within it. */
  async execute(task: EngineTask, hooks: TaskHooks): Promise<TaskOutcome> {
    const signal = AbortSignal.any([hooks.signal, this.#closed.signal]);
    try {
      return await this.#load(task, { ...hooks, signal });
    } catch (error) {
      throw signal.aborted ? abortError(signal) : toEngineError(error, 'TARGET');
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }

  async #load(unit: EngineTask, hooks: TaskHooks): Promise<TaskOutcome> {
    const spec = targetOf(unit);
    const within = unit.within ?? [];
    const places = await this.#placesOf([...within, unit]);
    const place = (connection: string) => lookedUp(places, connection);
    const run: Run = (sql) => this.#statements.run({ sql, source: SOURCE, signal: hooks.signal });
    const query = new GraphQuery(place, async (sql) => (await run(sql)).columns, hooks.signal);
    const described = new Map<string, readonly ResultColumn[]>();
    for (const task of within) {
      described.set(task.id, await query.add(task).catch((error: unknown) => rethrow(error, task)));
    }
    const columns = described.get(unit.inputs[0] ?? '') ?? [];
    const table = qualifiedName(place(spec.connection), spec.table);
    const sql = await writeStatement({ task: unit, spec, query, columns, table });
    const outcome = await this.#writeOnce(unit, place(spec.connection), sql, hooks);
    const told = outcome.alreadyDone ? 'had been written' : `${outcome.rows} rows to`;
    hooks.log('INFO', `${unit.id}: ${told} ${spec.table} of ${spec.connection} (${spec.mode}, by Trino)`);
    return {
      ...outcome,
      output: spec.table,
      columns,
      within: Object.fromEntries(within.map(({ id }) => [id, outcomeOf(described.get(id))])),
    };
  }

  async #writeOnce(
    { id }: EngineTask,
    { catalog }: Place,
    sql: string,
    hooks: TaskHooks,
  ): Promise<{ rows: number; alreadyDone?: boolean }> {
    const { runId } = this.options;
    const source = `${SOURCE}/${runId}/${id}/${randomUUID()}`;
    // Not under the task's signal: a cancelled write is to be noted too.
    const ask = async (text: string) => {
      const signal = AbortSignal.timeout(NOTE_TIMEOUT_MS);
      return (await this.#statements.run({ sql: text, source: SOURCE, signal })).rows;
    };
    const attempts = new LoadAttempts(ask, catalog, runId, id);
    const earlier = await attempts.settled();
    if (earlier !== undefined) return { rows: earlier, alreadyDone: true };
    await attempts.note('BEGUN', source);
    const { updated } = await this.#statements
      .run({ sql, source, signal: hooks.signal, progress: hooks.progress?.bind(hooks) })
      .catch(async (error: unknown) => {
        // Anything else leaves open whether Trino wrote; the next attempt asks.
        if (error instanceof TrinoFailure) await attempts.note('FAILED', source).catch(() => undefined);
        throw error;
      });
    await attempts.note('DONE', source, updated).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      hooks.log(
        'WARN',
        `${id}: written, but that could not be noted in ${catalog}.opsgraph.trino_load: ${reason}`,
      );
    });
    return { rows: updated };
  }

  /** The workspace must have each connection; Trino reads by its own rights. */
  async #placesOf(tasks: readonly EngineTask[]): Promise<ReadonlyMap<string, Place>> {
    const places = new Map<string, Place>();
    for (const { spec } of tasks) {
      if (!('connection' in spec) || spec.connection === undefined || places.has(spec.connection)) continue;
      const { connection } = spec;
      const catalog = catalogOf(this.settings, this.options.workspaceId, connection);
      if (catalog === undefined)
        throw new EngineError('CONNECTION', `"${connection}" is no catalog of Trino.`);
      const target = await this.options.resolveConnection(connection).catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new EngineError('CONNECTION', `Connection "${connection}" cannot be used: ${reason}`, {
          cause,
        });
      });
      places.set(connection, { catalog, schema: target.type === 'mysql' ? target.database : 'public' });
    }
    return places;
  }
}

function lookedUp(places: ReadonlyMap<string, Place>, connection: string): Place {
  const place = places.get(connection);
  if (!place) throw new EngineError('INTERNAL', `"${connection}" was not looked up.`);
  return place;
}

function targetOf({ id, spec }: EngineTask): TrinoTargetSpec {
  if (spec.kind === 'target' && spec.type !== 'file') return spec;
  throw new EngineError('INTERNAL', `"${id}" is not for Trino.`);
}

function outcomeOf(columns: readonly ResultColumn[] = []): WithinOutcome {
  return { columns };
}

function rethrow(error: unknown, { id }: EngineTask): never {
  const { kind, message, transient } = toEngineError(error, 'SQL');
  throw new EngineError(kind, message, { transient, taskId: id, cause: error });
}
