import { type ChildProcess, fork } from 'node:child_process';
import { compiledModule } from '../../../compiled-module.js';
import type { AuthorText } from '../../engine.js';
import type { FromJudge, ToJudge } from './judge-messages.js';

/** The process itself stops after 2 s, between two texts; to start may take as long on a busy machine. */
const STUCK_MS = 10_000;
/** It takes 100 MB, and 300 ms to start. */
const IDLE_MS = 60_000;

type Faults = FromJudge['faults'];

/** One process for everybody. It never keeps this one from ending, and ends with it. */
class JudgeProcess {
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, (faults: Faults) => void>();
  #nextId = 1;
  #idle: NodeJS.Timeout | undefined;

  constructor(private readonly onGone: () => void) {
    this.#process = fork(compiledModule('engines/batch/judge/judge-child.js'), [], {
      // Nothing of the server's environment: it may hold secrets.
      env: { TZ: 'UTC', LC_ALL: 'C.UTF-8' },
      execArgv: ['--max-old-space-size=512'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#process.on('message', ({ id, faults }: FromJudge) => this.#pending.get(id)?.(faults));
    this.#process.once('exit', () => this.#end());
    this.#process.on('error', () => this.#end());
    this.#process.unref();
    this.#process.channel?.unref();
  }

  async ask(texts: readonly AuthorText[]): Promise<Faults> {
    const id = this.#nextId++;
    clearTimeout(this.#idle);
    const stuck = setTimeout(() => this.#end(), STUCK_MS);
    const faults = await new Promise<Faults>((resolve) => {
      this.#pending.set(id, resolve);
      this.#process.send({ id, texts } satisfies ToJudge, (error) => error && this.#end());
    });
    clearTimeout(stuck);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    return faults;
  }

  /** What was asked has no answer: nothing is known to be wrong. */
  #end(): void {
    clearTimeout(this.#idle);
    this.onGone();
    this.#process.kill('SIGKILL');
    for (const resolve of this.#pending.values()) resolve([]);
  }
}

let judge: JudgeProcess | undefined;

/** See Engine.judge. */
export async function judgeTexts(texts: readonly AuthorText[]): Promise<Faults> {
  if (texts.length === 0) return [];
  judge ??= startJudge();
  return judge.ask(texts);
}

function startJudge(): JudgeProcess {
  const started: JudgeProcess = new JudgeProcess(() => {
    if (judge === started) judge = undefined;
  });
  return started;
}
