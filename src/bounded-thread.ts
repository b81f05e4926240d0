import { parentPort, Worker } from 'node:worker_threads';
import { compiledModule } from './compiled-module.js';

/** The work took too long or too much memory, or its thread broke; what it held is given back. */
export class BoundsExceeded extends Error {
  override readonly name = 'BoundsExceeded';
}

type FromThread<Answer> = { begun: true } | { answer: Answer };

/** A thread that has not begun by then is stuck; to load 23 MB of WebAssembly takes 0.15 s on an idle machine. */
const START_TIMEOUT_MS = 15_000;
const IDLE_MS = 10_000;
/** Of the JavaScript heap; WebAssembly's memory is bounded by the deadline alone. */
const LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 };

/**
 * A thread for work whose cost grows out of proportion with what an author wrote, so that the server answers meanwhile.
 * It is started when there is work, does one piece after another, and ends when there was none for a while or a piece
 * exceeds its bounds. An idle thread does not hold the process open.
 */
export class BoundedThread<Work, Answer> {
  #worker: Worker | undefined;
  #queue: Promise<void> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #underWay: { tell(message: FromThread<Answer>): void; fail(error: unknown): void } | undefined;

  /**
   * @param module path below dist of a module that calls serveThread()
   * @param deadlineMs for one piece of work, from when it begins
   */
  constructor(
    private readonly module: string,
    private readonly deadlineMs: number,
  ) {}

  /** @throws BoundsExceeded, or the signal's reason */
  run(work: Work, signal: AbortSignal): Promise<Answer> {
    const piece = Promise.withResolvers<Answer>();
    const onAbort = () => piece.reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    this.#queue = this.#queue
      .then(() => (signal.aborted ? undefined : this.#carryOut(work, piece)))
      .finally(() => signal.removeEventListener('abort', onAbort));
    return piece.promise;
  }

  async #carryOut(work: Work, { promise, resolve, reject }: PromiseWithResolvers<Answer>): Promise<void> {
    clearTimeout(this.#idle);
    const endAfter = (ms: number) =>
      setTimeout(() => reject(new BoundsExceeded(`not done within ${ms} ms`)), ms);
    let timer = endAfter(START_TIMEOUT_MS);
    const tell = (message: FromThread<Answer>) => {
      clearTimeout(timer);
      if ('answer' in message) resolve(message.answer);
      else timer = endAfter(this.deadlineMs);
    };
    this.#underWay = { tell, fail: reject };
    try {
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage(work);
      await promise;
      this.#rest();
    } catch (error) {
      reject(error);
      await this.#end();
    } finally {
      clearTimeout(timer);
      this.#underWay = undefined;
    }
  }

  #start(): Worker {
    const worker = new Worker(compiledModule(this.module), { env: {}, execArgv: [], resourceLimits: LIMITS });
    const lost = (reason: string, cause?: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#underWay?.fail(new BoundsExceeded(reason, { cause }));
    };
    worker.on('message', (message: FromThread<Answer>) => {
      if (this.#worker === worker) this.#underWay?.tell(message);
    });
    worker.on('error', (error) => lost(error instanceof Error ? error.message : String(error), error));
    worker.on('exit', () => lost('the thread ended'));
    return worker;
  }

  #rest(): void {
    this.#worker?.unref();
    this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref();
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** The other side: in the thread's module, what is done with each piece of work. What it throws ends the thread. */
export function serveThread<Work, Answer>(carryOut: (work: Work) => Promise<Answer>): void {
  parentPort?.on('message', async (work: Work) => {
    parentPort?.postMessage({ begun: true });
    parentPort?.postMessage({ answer: await carryOut(work) });
  });
}
