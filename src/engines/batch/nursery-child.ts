import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { compiledModule } from '../../compiled-module.js';
import { EngineError } from '../engine-error.js';
import type { FromChild, ToChild } from './messages.js';
import type { FromNursery, ToNursery } from './nursery-messages.js';

/** One of the engine's processes, as the server sees it by way of the nursery. */
export class NurseryChild extends EventEmitter<{ message: [FromChild]; complaint: [string]; exit: [] }> {
  pid: number | undefined;
  isGone = false;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;

  constructor(
    private readonly tell: (message: { type: 'tell'; message: ToChild } | { type: 'kill' }) => void,
  ) {
    super();
  }

  send(message: ToChild): void {
    if (!this.isGone) this.tell({ type: 'tell', message });
  }

  kill(): void {
    if (!this.isGone) this.tell({ type: 'kill' });
  }

  end(exitCode: number | null, signalCode: NodeJS.Signals | null): void {
    this.isGone = true;
    this.exitCode = exitCode;
    this.signalCode = signalCode;
    this.emit('exit');
  }
}

/** The process that starts the others; it ends with this one, and holds it open only while one of them lives. */
class Nursery {
  readonly #process: ChildProcess;
  readonly #children = new Map<number, NurseryChild>();
  #nextId = 1;

  constructor(onGone: () => void) {
    this.#process = fork(compiled('nursery.js'), [], {
      env: { TZ: 'UTC', LC_ALL: 'C.UTF-8' },
      execArgv: [],
      // A session of its own, which can be nice as a whole.
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#process.on('message', (message: FromNursery) => this.#onMessage(message));
    let isOver = false;
    const over = (signalCode: NodeJS.Signals | null) => {
      if (isOver) return;
      isOver = true;
      onGone();
      for (const [id, child] of this.#children) this.#forget(id, child, null, signalCode);
    };
    this.#process.once('exit', (_, signalCode) => over(signalCode));
    this.#process.on('error', () => this.#process.pid === undefined && over(null));
    this.#holdOpen(false);
  }

  start(directory: string): NurseryChild {
    const id = this.#nextId++;
    const child = new NurseryChild((message) => this.#tell({ ...message, id }));
    this.#children.set(id, child);
    this.#holdOpen(true);
    this.#tell({ type: 'start', id, entry: compiled('child.js'), directory });
    return child;
  }

  #tell(message: ToNursery): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  #onMessage(message: FromNursery): void {
    const child = this.#children.get(message.id);
    if (!child) return;
    if (message.type === 'told') child.emit('message', message.message);
    else if (message.type === 'complained') child.emit('complaint', message.text);
    else if (message.type === 'started') child.pid = message.pid;
    else this.#forget(message.id, child, message.exitCode, message.signalCode);
  }

  #forget(id: number, child: NurseryChild, exitCode: number | null, signalCode: NodeJS.Signals | null): void {
    this.#children.delete(id);
    if (this.#children.size === 0) this.#holdOpen(false);
    child.end(exitCode, signalCode);
  }

  #holdOpen(isHeld: boolean): void {
    const { channel } = this.#process;
    if (isHeld) {
      this.#process.ref();
      channel?.ref();
    } else {
      this.#process.unref();
      channel?.unref();
    }
  }
}

let nursery: Nursery | undefined;

/** Starts one of the engine's processes in the directory. @throws EngineError INTERNAL when the product is not built */
export function startChild(directory: string): NurseryChild {
  nursery ??= new Nursery(() => {
    nursery = undefined;
  });
  return nursery.start(directory);
}

function compiled(name: string): string {
  try {
    return compiledModule(`engines/batch/${name}`);
  } catch (cause) {
    throw new EngineError('INTERNAL', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
