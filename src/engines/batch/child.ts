// First: what takes long is DuckDB.
import './outlive-signals.js';
import { rmSync } from 'node:fs';
import { toEngineError } from './classify-error.js';
import { DuckDbInstances } from './duckdb-instances.js';
import type { FromChild, ToChild, WireError } from './messages.js';
import { runTask } from './run-task.js';
import { withoutServerPaths } from './server-paths.js';

/** The engine's child process: opens DuckDB, runs the tasks it is sent, and dies with its parent. */

const running = new Map<number, AbortController>();
let instances: DuckDbInstances | undefined;

process.on('message', (message: ToChild) => {
  if (message.type === 'open') void open(message);
  else if (message.type === 'execute') void execute(message);
  else if (message.type === 'cancel') running.get(message.id)?.abort();
  else end(0);
});
// The server was killed: its run will be resumed elsewhere, so this process must not go on writing.
process.on('disconnect', () => end(1));

async function open({ options }: Extract<ToChild, { type: 'open' }>): Promise<void> {
  try {
    instances = await DuckDbInstances.open(options);
    send({ type: 'ready' });
  } catch (error) {
    send({ type: 'refused', error: wire(error) });
  }
}

async function execute({
  id,
  task,
  attempt,
  connections,
}: Extract<ToChild, { type: 'execute' }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const told = (message: string) =>
    instances ? withoutServerPaths(message, { ...instances.options, connections }) : message;
  try {
    if (!instances) throw new Error('A task came before the session was opened.');
    const outcome = await runTask({
      task,
      attempt,
      connection: connections[task.id],
      connections,
      instances,
      options: instances.options,
      signal: controller.signal,
      log: (level, message) => send({ type: 'log', id, level, message: told(message) }),
      progress: (percent, rows) => send({ type: 'progress', id, percent, rows }),
    });
    send({ type: 'done', id, outcome });
  } catch (error) {
    const failure = wire(error, told);
    // DuckDB refuses all further work after an internal error; a new process takes over.
    send({ type: 'failed', id, error: failure }, failure.kind === 'INTERNAL' ? () => end(1) : undefined);
  } finally {
    running.delete(id);
  }
}

function wire(error: unknown, told = (message: string) => message): WireError {
  const { kind, message, transient, taskId } = toEngineError(error, 'INTERNAL');
  return { kind, message: told(message), transient, ...(taskId !== undefined && { taskId }) };
}

function send(message: FromChild, sent?: () => void): void {
  if (process.connected) process.send?.(message, undefined, undefined, sent);
}

function end(code: number): never {
  for (const controller of running.values()) controller.abort();
  if (instances) rmSync(instances.spillDirectory, { recursive: true, force: true });
  process.exit(code);
}
