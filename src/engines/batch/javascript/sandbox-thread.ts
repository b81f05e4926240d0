import { Worker } from 'node:worker_threads';
import { EngineError } from '../../engine-error.js';
import { abortError } from '../abort.js';
import type { Batch, SandboxStart } from './sandbox.js';

export type SandboxAnswer = Batch | { error: string; row: number | undefined };

/** Of the thread around the interpreter, which has a limit of its own. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 };

/** An author's code in a thread of its own; it is asked one batch after another. */
export class SandboxThread {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  #rowsBefore = 0;
  #settle: { resolve(answer: SandboxAnswer): void; reject(error: unknown): void } | undefined;
  #failure: unknown;

  private constructor(start: SandboxStart, signal: AbortSignal) {
    this.#signal = signal;
    this.#worker = new Worker(new URL('./sandbox-worker.js', import.meta.url), {
      workerData: start,
      env: {},
      execArgv: [],
      resourceLimits: THREAD_LIMITS,
    });
    this.#worker.on('message', (answer: SandboxAnswer) => this.#settle?.resolve(answer));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('The thread of the code ended.')));
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** @throws EngineError SQL when the code cannot be used */
  static async start(start: SandboxStart, signal: AbortSignal): Promise<SandboxThread> {
    if (signal.aborted) throw abortError(signal);
    const thread = new SandboxThread(start, signal);
    try {
      await thread.#answer();
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** `rows` are JSON objects. @throws EngineError SQL with the row's number in the input */
  async transform(rows: readonly string[]): Promise<Batch> {
    const answer = this.#answer();
    this.#worker.postMessage(`[${rows.join(',')}]`);
    const batch = await answer;
    this.#rowsBefore += rows.length;
    return batch;
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    await this.#worker.terminate();
  }

  readonly #onAbort = () => {
    this.#fail(abortError(this.#signal));
    void this.#worker.terminate();
  };

  async #answer(): Promise<Batch> {
    if (this.#failure !== undefined) throw this.#failure;
    const answer = await new Promise<SandboxAnswer>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    if (!('error' in answer)) return answer;
    const row = answer.row === undefined ? '' : `, row ${this.#rowsBefore + answer.row + 1} of the input`;
    throw new EngineError('SQL', `code: ${answer.error}${row}.`);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#settle?.reject(error);
  }
}
