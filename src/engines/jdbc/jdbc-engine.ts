import { abortError } from '../batch/abort.js';
import { toEngineError } from '../batch/classify-error.js';
import { withMysql } from '../batch/mysql-client.js';
import { withPostgres } from '../batch/postgres-client.js';
import type {
  ConnectionTarget,
  Engine,
  EngineSession,
  EngineTask,
  GraphTask,
  SessionOptions,
  TaskHooks,
  TaskOutcome,
} from '../engine.js';
import { EngineError } from '../engine-error.js';
import { pushDownToMysql } from './mysql-push-down.js';
import { pushDownToPostgres } from './postgres-push-down.js';

/**
 * Runs a whole graph inside the database it reads and writes: one transaction of INSERT ... SELECT. Nothing leaves the
 * database, so the SQL is the database's own dialect. PostgreSQL 15, MySQL 8, MariaDB 10.6, or newer.
 */
export class JdbcEngine implements Engine {
  readonly kind = 'JDBC';

  /** All of it is one unit, since it is one transaction. */
  plan(tasks: readonly GraphTask[]): EngineTask[] {
    const last = tasks.findLast(({ spec }) => spec.kind === 'target');
    if (!last) throw new EngineError('INTERNAL', 'A graph without a target cannot be pushed down.');
    return [{ ...last, within: tasks.filter((task) => task !== last) }];
  }

  async open(options: SessionOptions): Promise<EngineSession> {
    return new JdbcSession(options);
  }
}

class JdbcSession implements EngineSession {
  readonly #closed = new AbortController();

  constructor(private readonly options: SessionOptions) {}

  async execute(task: EngineTask, hooks: TaskHooks): Promise<TaskOutcome> {
    const signal = AbortSignal.any([hooks.signal, this.#closed.signal]);
    try {
      const connection = await this.#connectionOf(task);
      const { runId } = this.options;
      return task.spec.type === 'mysql'
        ? await withMysql({ task, connection, signal }, (client) =>
            pushDownToMysql(client, runId, task, hooks),
          )
        : await withPostgres({ task, connection, signal }, (client) =>
            pushDownToPostgres(client, runId, task, hooks),
          );
    } catch (error) {
      throw signal.aborted ? abortError(signal) : toEngineError(error, 'SQL');
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }

  #connectionOf({ spec }: EngineTask): Promise<ConnectionTarget> {
    const name = 'connection' in spec ? spec.connection : undefined;
    if (name === undefined) throw new EngineError('INTERNAL', 'A pushed-down target has no connection.');
    return this.options.resolveConnection(name).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError('CONNECTION', `Connection "${name}" cannot be used: ${reason}`, { cause });
    });
  }
}
