import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { compiledModule } from './compiled-module.js';
import { niceAsSession } from './nice-session.js';

/** The work took too long or too much memory, or its process broke; what it held is given back. */
export class BoundsExceeded extends Error {
  override readonly name = 'BoundsExceeded';
}

type FromProcess<Answer> = { begun: true } | { answer: Answer } | { broken: string };

/** A process that has not begun by then is stuck; to load 23 MB of WebAssembly takes 1.5 s of a processor. */
const START_TIMEOUT_MS = 60_000;
/** It takes some 150 MB. */
const IDLE_MS = 60_000;
/** Of the JavaScript heap; WebAssembly's memory is bounded by the deadline alone. */
const MAX_HEAP_MB = 256;
/** Of 8,192 that a process commonly has. */
const STACK_KB = 4_096;
/** Nobody waits for a lineage, and a run that is translated has work of its own before it. */
const NICENESS = 10;

/**
 * A process for work whose cost grows out of proportion with what an author wrote, so that the server answers meanwhile.
 * It is started when there is work, does one piece after another, and ends when there was none for a while or a piece
 * exceeds its bounds. An idle one does not hold this process open; it ends with it, a busy one after its piece. Not a
 * thread: what V8 compiles for a thread it compiles with the server's priority, and the parser's WebAssembly kept two
 * processors busy for 1.5 s.
 */
export class BoundedProcess<Work, Answer> {
  #child: ChildProcess | undefined;
  #queue: Promise<void> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #underWay: { tell(message: FromProcess<Answer>): void; fail(error: unknown): void } | undefined;

  /**
   * @param module path below dist of a module that calls serveParent()
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
    const tell = (message: FromProcess<Answer>) => {
      clearTimeout(timer);
      if ('answer' in message) resolve(message.answer);
      else if ('broken' in message) reject(new BoundsExceeded(message.broken));
      else timer = endAfter(this.deadlineMs);
    };
    this.#underWay = { tell, fail: reject };
    try {
      this.#child ??= this.#start();
      this.#child.ref();
      this.#child.channel?.ref();
      this.#child.send(work as object, (error) => error && reject(new BoundsExceeded(error.message)));
      await promise;
      this.#rest();
    } catch (error) {
      reject(error);
      this.#end();
    } finally {
      clearTimeout(timer);
      this.#underWay = undefined;
    }
  }

  #start(): ChildProcess {
    const child = fork(compiledModule(this.module), [], {
      // Nothing of the server's environment: it may hold secrets.
      env: { TZ: 'UTC', LC_ALL: 'C.UTF-8' },
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`, `--stack-size=${STACK_KB}`],
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    if (child.pid !== undefined) setPriority(child.pid, NICENESS);
    const lost = (reason: string) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      this.#underWay?.fail(new BoundsExceeded(reason));
    };
    child.on('message', (message: FromProcess<Answer>) => {
      if (this.#child === child) this.#underWay?.tell(message);
    });
    child.on('error', (error) => lost(error.message));
    child.on('exit', (code, signal) => lost(`the process ended with ${signal ?? code}`));
    return child;
  }

  #rest(): void {
    this.#child?.unref();
    this.#child?.channel?.unref();
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
  }

  #end(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.kill('SIGKILL');
  }
}

/**
 * The other side: in the process's module, what is done with each piece of work. What it throws ends the process, which
 * the parent sees to.
 */
export function serveParent<Work, Answer>(carryOut: (work: Work) => Promise<Answer>): void {
  niceAsSession(NICENESS);
  process.on('message', async (work: Work) => {
    tell({ begun: true });
    try {
      tell({ answer: await carryOut(work) });
    } catch (error) {
      tell({ broken: error instanceof Error ? error.message : String(error) });
    }
  });
}

function tell<Answer>(message: FromProcess<Answer>): void {
  process.send?.(message);
}
