// First: what takes long is DuckDB.
import '../../outlive-signals.js';
import { rmSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { toEngineError } from './classify-error.js';
import { DuckDbInstances } from './duckdb-instances.js';
import type { FromChild, ToChild, WireError } from './messages.js';
import { runTask } from './run-task.js';
import { withoutServerPaths } from './server-paths.js';

/** The engine's child process: opens DuckDB, runs the tasks it is sent, and dies with its parent. */

/** Less than what the server waits for this process to end. */
const END_GRACE_MS = 1_700;

interface Running {
  controller: AbortController;
  work: Promise<void>;
}

const running = new Map<number, Running>();
let instances: DuckDbInstances | undefined;
let isEnding = false;

process.on('message', (message: ToChild) => {
  if (message.type === 'open') void open(message);
  else if (message.type === 'execute') start(message);
  else if (message.type === 'cancel') running.get(message.id)?.controller.abort();
  else void end(0);
});
// The server was killed: its run will be resumed elsewhere, so this process must not go on writing.
process.on('disconnect', () => void end(1));

async function open({ options }: Extract<ToChild, { type: 'open' }>): Promise<void> {
  try {
    instances = await DuckDbInstances.open(options);
    send({ type: 'ready' });
  } catch (error) {
    send({ type: 'refused', error: wire(error) });
  }
}

function start(message: Extract<ToChild, { type: 'execute' }>): void {
  if (isEnding) return;
  const controller = new AbortController();
  const work = execute(message, controller.signal).finally(() => running.delete(message.id));
  running.set(message.id, { controller, work });
}

async function execute(
  { id, task, attempt, connections }: Extract<ToChild, { type: 'execute' }>,
  signal: AbortSignal,
): Promise<void> {
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
      signal,
      log: (level, message) => send({ type: 'log', id, level, message: told(message) }),
      progress: (percent, rows) => send({ type: 'progress', id, percent, rows }),
    });
    send({ type: 'done', id, outcome });
  } catch (error) {
    // Nobody cancelled the task: the server answers for it when this process is gone.
    if (isEnding) return;
    const failure = wire(error, told);
    // DuckDB refuses all further work after an internal error; a new process takes over.
    send({ type: 'failed', id, error: failure }, failure.kind === 'INTERNAL' ? () => void end(1) : undefined);
  }
}

function wire(error: unknown, told = (message: string) => message): WireError {
  const { kind, message, transient, taskId } = toEngineError(error, 'INTERNAL');
  return { kind, message: told(message), transient, ...(taskId !== undefined && { taskId }) };
}

function send(message: FromChild, sent?: () => void): void {
  if (process.connected) process.send?.(message, undefined, undefined, sent);
}

/** Ends what the tasks are doing elsewhere, too: a database that is not told to cancel a statement goes on with it. */
async function end(code: number): Promise<void> {
  isEnding = true;
  for (const { controller } of running.values()) controller.abort();
  await Promise.race([Promise.all([...running.values()].map(({ work }) => work)), after(END_GRACE_MS)]);
  if (instances) rmSync(instances.spillDirectory, { recursive: true, force: true });
  process.exit(code);
}
