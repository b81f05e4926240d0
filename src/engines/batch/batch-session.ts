import type {
  ConnectionTarget,
  EngineSession,
  EngineTask,
  SessionOptions,
  TaskHooks,
  TaskOutcome,
} from '../engine.js';
import { EngineError } from '../engine-error.js';
import { abortError, rejectOnAbort } from './abort.js';
import { EngineProcess } from './engine-process.js';

/**
 * One run's session. Everything it knows is in the run's directory, so a child that died is simply replaced
 * when the next task comes: the tasks it took with it fail as transient and may be tried again.
 */
export class BatchSession implements EngineSession {
  readonly #options: SessionOptions;
  #process: Promise<EngineProcess>;
  #closed = false;

  private constructor(options: SessionOptions, process: EngineProcess) {
    this.#options = options;
    this.#process = Promise.resolve(process);
  }

  static async open(options: SessionOptions): Promise<BatchSession> {
    return new BatchSession(options, await EngineProcess.start(options));
  }

  async execute(task: EngineTask, hooks: TaskHooks): Promise<TaskOutcome> {
    if (hooks.signal.aborted) throw abortError(hooks.signal);
    const connections = await this.#connectionsOf(task, hooks.signal);
    const child = await this.#livingProcess();
    return child.execute(task, connections, hooks);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const child = await this.#process.catch(() => undefined);
    await child?.close();
  }

  async #livingProcess(): Promise<EngineProcess> {
    for (;;) {
      const starting = this.#process;
      const child = await starting.catch(() => undefined);
      if (this.#closed) throw new EngineError('INTERNAL', 'The engine session is closed.');
      if (child?.alive) return child;
      // Several tasks may find the same dead child: the first one here replaces it, the others wait for that one.
      if (this.#process === starting) {
        this.#process = EngineProcess.start(this.#options);
        return this.#process;
      }
    }
  }

  async #connectionsOf(task: EngineTask, signal: AbortSignal): Promise<Record<string, ConnectionTarget>> {
    const connections: Record<string, ConnectionTarget> = {};
    for (const each of [...(task.within ?? []), task]) {
      const connection = await this.#connectionOf(each, signal);
      if (connection) connections[each.id] = connection;
    }
    return connections;
  }

  async #connectionOf(task: EngineTask, signal: AbortSignal): Promise<ConnectionTarget | undefined> {
    const name = 'connection' in task.spec ? task.spec.connection : undefined;
    if (name === undefined) return undefined;
    const resolving = this.#options.resolveConnection(name).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError('CONNECTION', `Connection "${name}" cannot be used: ${reason}`, { cause });
    });
    return rejectOnAbort(resolving, signal);
  }
}
