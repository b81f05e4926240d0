import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import type {
  ConnectionTarget,
  EngineTask,
  SessionOptions,
  TaskAttempt,
  TaskHooks,
  TaskOutcome,
} from '../engine.js';
import { EngineError } from '../engine-error.js';
import { abortError } from './abort.js';
import type { ChildOptions, FromChild, ToChild } from './messages.js';
import { spillDirectory } from './spill-directory.js';

const START_TIMEOUT_MS = 15_000;
/** An interrupt takes 2-4 ms and a PostgreSQL cancel one round trip; a child silent for longer is stuck. */
const CANCEL_GRACE_MS = 2_000;
const CLOSE_GRACE_MS = 2_000;
const STDERR_TAIL = 2_000;

interface Pending {
  hooks: TaskHooks;
  resolve(outcome: TaskOutcome): void;
  reject(error: EngineError): void;
}

/** One child process and the tasks it is working on. Once it is gone, every one of them has been answered. */
export class EngineProcess {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #exited: Promise<void>;
  readonly #firstAnswer: Promise<FromChild>;
  #nextId = 1;
  #stderr = '';
  #killedBecause: string | undefined;

  private constructor(child: ChildProcess, runDirectory: string) {
    this.#child = child;
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // A process that could not be started has no 'exit'; other errors (a failed send) are followed by one.
      child.on('error', () => child.pid === undefined && resolve());
    });
    // A child that was killed could not tidy up after itself.
    this.#exited = exited.then(() => {
      this.#rejectAll();
      return rm(spillDirectory(runDirectory, child.pid), { recursive: true, force: true }).catch(
        () => undefined,
      );
    });
    this.#firstAnswer = new Promise((resolve) => child.once('message', resolve));
    child.on('message', (message: FromChild) => this.#onMessage(message));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
  }

  /** Rejects with EngineError INTERNAL when the child is missing, refuses its options or is not ready in 15 s. */
  static async start(options: SessionOptions): Promise<EngineProcess> {
    const { resolveConnection: _, ...rest } = options;
    const runDirectory = await makeRunDirectory(options.runDirectory);
    const process_ = new EngineProcess(forkChild(runDirectory), runDirectory);
    await process_.#becomeReady({ ...rest, runDirectory });
    return process_;
  }

  get alive(): boolean {
    return this.#child.connected && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  execute(
    task: EngineTask,
    connections: Readonly<Record<string, ConnectionTarget>>,
    hooks: TaskHooks,
  ): Promise<TaskOutcome> {
    if (hooks.signal.aborted) return Promise.reject(abortError(hooks.signal));
    if (!this.alive) return Promise.reject(this.#goneError());
    const id = this.#nextId++;
    let grace: NodeJS.Timeout | undefined;
    const onAbort = () => {
      this.#send({ type: 'cancel', id });
      grace = setTimeout(() => this.#kill('it did not react to a cancelled task'), CANCEL_GRACE_MS);
    };
    hooks.signal.addEventListener('abort', onAbort, { once: true });
    return new Promise<TaskOutcome>((resolve, reject) => {
      this.#pending.set(id, { hooks, resolve, reject });
      this.#send({ type: 'execute', id, task, attempt: attemptOf(hooks), connections });
    }).finally(() => {
      clearTimeout(grace);
      hooks.signal.removeEventListener('abort', onAbort);
      this.#pending.delete(id);
    });
  }

  /** Ends the child: politely, and after two seconds by SIGKILL. Resolves when the process is gone. */
  async close(): Promise<void> {
    if (!this.alive) {
      if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
      await this.#exited;
      return;
    }
    this.#send({ type: 'close' });
    const timer = setTimeout(() => this.#kill('it did not end when asked to'), CLOSE_GRACE_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  async #becomeReady(options: ChildOptions): Promise<void> {
    this.#send({ type: 'open', options });
    const timer = setTimeout(() => this.#kill('it was not ready in time'), START_TIMEOUT_MS);
    const first = await Promise.race([this.#firstAnswer, this.#exited]);
    clearTimeout(timer);
    if (first?.type === 'ready') return;
    this.#child.kill('SIGKILL');
    if (first?.type === 'refused') throw new EngineError(first.error.kind, first.error.message);
    throw this.#goneError();
  }

  #onMessage(message: FromChild): void {
    if (message.type === 'ready' || message.type === 'refused') return;
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    const { hooks } = pending;
    if (message.type === 'log') hooks.log(message.level, message.message);
    else if (message.type === 'progress') hooks.progress?.({ percent: message.percent, rows: message.rows });
    else if (message.type === 'done') pending.resolve(message.outcome);
    else if (hooks.signal.aborted) pending.reject(abortError(hooks.signal));
    else pending.reject(new EngineError(message.error.kind, message.error.message, message.error));
  }

  #rejectAll(): void {
    for (const { hooks, reject } of this.#pending.values()) {
      reject(hooks.signal.aborted ? abortError(hooks.signal) : this.#goneError());
    }
  }

  #goneError(): EngineError {
    const { exitCode, signalCode } = this.#child;
    const how = signalCode ? `killed by ${signalCode}` : `exit code ${exitCode ?? 'unknown'}`;
    const why = this.#killedBecause ? `: ${this.#killedBecause}` : this.#stderr && `: ${this.#stderr.trim()}`;
    const hint =
      signalCode === 'SIGKILL' && !this.#killedBecause ? ' (the machine may be out of memory)' : '';
    return new EngineError('INTERNAL', `The engine process ended (${how})${hint}${why}`, { transient: true });
  }

  #kill(reason: string): void {
    this.#killedBecause = reason;
    this.#child.kill('SIGKILL');
  }

  #send(message: ToChild): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

/** What of the hooks is data; the rest are functions of this process. */
function attemptOf({ watermark, until, outOfMemory }: TaskHooks): TaskAttempt {
  return {
    ...(watermark !== undefined && { watermark }),
    ...(until !== undefined && { until }),
    ...(outOfMemory !== undefined && { outOfMemory }),
  };
}

async function makeRunDirectory(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return await realpath(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('INTERNAL', `The run's directory cannot be made: ${reason}`, { cause });
  }
}

/** The server answers at once while runs compute: the kernel gives it a processor before them. */
const NICENESS = 19;

function forkChild(runDirectory: string): ChildProcess {
  const child = fork(childEntry(), [], {
    cwd: runDirectory,
    // Nothing of the server's environment: it may hold secrets, and pg would read PGHOST and its like from it.
    // DuckDB calls block a libuv thread each, and the default of 4 would queue the tasks of a wide level.
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', UV_THREADPOOL_SIZE: '16' },
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  // Without an id it could not be started, which its own event tells.
  if (child.pid !== undefined) setPriority(child.pid, NICENESS);
  return child;
}

/** The compiled child. This module may itself be source under test or part of a bundle, so the way leads up to the package. */
function childEntry(): string {
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const entry = join(directory, 'dist/engines/batch/child.js');
    if (existsSync(entry)) return entry;
    if (directory === dirname(directory)) {
      throw new EngineError('INTERNAL', 'dist/engines/batch/child.js is missing: run "npm run build" first.');
    }
  }
}
