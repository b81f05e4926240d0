import type { DuckDBConnection } from '@duckdb/node-api';
import type { ConnectionTarget, EngineTask, LogLevel, TaskAttempt } from '../engine.js';
import { abortError } from './abort.js';
import type { DuckDbInstances, InstanceName } from './duckdb-instances.js';
import type { ChildOptions } from './messages.js';

export interface TaskContext {
  task: EngineTask;
  attempt: TaskAttempt;
  /** Present when the task's spec names a connection. */
  connection: ConnectionTarget | undefined;
  /** By the ids of the task and of those within it. */
  connections: Readonly<Record<string, ConnectionTarget>>;
  instances: DuckDbInstances;
  options: ChildOptions;
  signal: AbortSignal;
  log(level: LogLevel, message: string): void;
  /** Percent from 0 to 100. */
  progress(percent: number, rows: number): void;
}

/** An interrupt only reaches a statement that has begun, so it is repeated until the work has let go. */
const INTERRUPT_EVERY_MS = 20;
const PROGRESS_EVERY_MS = 250;

/** Lends a fresh DuckDB connection, so that temporary views of one task are unknown to every other. */
export async function withDuckDb<T>(
  context: TaskContext,
  name: InstanceName,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const { signal } = context;
  const connection = await context.instances.connect(name, context.attempt.outOfMemory);
  let repeat: NodeJS.Timeout | undefined;
  const onAbort = () => {
    connection.interrupt();
    repeat = setInterval(() => connection.interrupt(), INTERRUPT_EVERY_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  let stopProgress: (() => void) | undefined;
  try {
    if (signal.aborted) throw abortError(signal);
    stopProgress = await reportProgress(context, connection);
    return await work(connection);
  } finally {
    stopProgress?.();
    signal.removeEventListener('abort', onAbort);
    clearInterval(repeat);
    connection.closeSync();
  }
}

/** DuckDB measures progress per connection, and only when told so. */
async function reportProgress(context: TaskContext, connection: DuckDBConnection): Promise<() => void> {
  await connection.run('SET enable_progress_bar = true; SET enable_progress_bar_print = false');
  const timer = setInterval(() => {
    const { percentage, rows_processed } = connection.progress;
    if (percentage >= 0) context.progress(percentage, Number(rows_processed));
  }, PROGRESS_EVERY_MS);
  return () => clearInterval(timer);
}
