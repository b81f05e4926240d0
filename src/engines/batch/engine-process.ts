import { mkdir, realpath, rm } from 'node:fs/promises';
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
import { type NurseryChild, startChild } from './nursery-child.js';
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
  readonly #child: NurseryChild;
  readonly #pending = new Map<number, Pending>();
  readonly #exited: Promise<void>;
  readonly #firstAnswer: Promise<FromChild>;
  #nextId = 1;
  #stderr = '';
  #killedBecause: string | undefined;

  private constructor(child: NurseryChild, runDirectory: string) {
    this.#child = child;
    const exited = new Promise<void>((resolve) => child.once('exit', resolve));
    // A child that was killed could not tidy up after itself.
    this.#exited = exited.then(() => {
      this.#rejectAll();
      return rm(spillDirectory(runDirectory, child.pid), { recursive: true, force: true }).catch(
        () => undefined,
      );
    });
    this.#firstAnswer = new Promise((resolve) => child.once('message', resolve));
    child.on('message', (message) => this.#onMessage(message));
    child.on('complaint', (text) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
  }

  /** Rejects with EngineError INTERNAL when the child is missing, refuses its options or is not ready in 15 s. */
  static async start(options: SessionOptions): Promise<EngineProcess> {
    const { resolveConnection: _, ...rest } = options;
    const runDirectory = await makeRunDirectory(options.runDirectory);
    const process_ = new EngineProcess(startChild(runDirectory), runDirectory);
    await process_.#becomeReady({ ...rest, runDirectory });
    return process_;
  }

  get alive(): boolean {
    return !this.#child.isGone;
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
    if (!this.alive) return this.#exited;
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
    this.#child.kill();
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
    this.#child.kill();
  }

  #send(message: ToChild): void {
    this.#child.send(message);
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
    // The message would name the directory.
    const { code } = cause as NodeJS.ErrnoException;
    throw new EngineError('INTERNAL', `The run's directory cannot be made: ${code}`, { cause });
  }
}
