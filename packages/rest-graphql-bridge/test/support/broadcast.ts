/** An event source with many readers and a hand-written iterator: `return()` ends it at once, even while waiting. */
export class Broadcast<T> {
  readonly #readers = new Set<Reader<T>>();
  readonly #history: T[] = [];
  #changed: (() => void)[] = [];

  get readers(): number {
    return this.#readers.size;
  }

  publish(event: T): void {
    this.#history.push(event);
    for (const reader of this.#readers) reader.push(event);
  }

  /** Ends every reader, as a source that has nothing more to say. */
  finish(): void {
    for (const reader of this.#readers) void reader.return();
  }

  /** Breaks every reader. */
  fail(error: Error): void {
    for (const reader of this.#readers) reader.fail(error);
  }

  /** Resolves once exactly `count` readers are open. */
  async untilReaders(count: number): Promise<void> {
    while (this.#readers.size !== count) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  open(wanted: (event: T) => boolean): AsyncIterableIterator<T> {
    const reader = new Reader<T>(wanted, () => {
      this.#readers.delete(reader);
      this.#notify();
    });
    for (const event of this.#history) reader.push(event);
    this.#readers.add(reader);
    this.#notify();
    return reader;
  }

  #notify(): void {
    const waiting = this.#changed;
    this.#changed = [];
    for (const resolve of waiting) resolve();
  }
}

class Reader<T> implements AsyncIterableIterator<T> {
  readonly #wanted: (event: T) => boolean;
  readonly #closed: () => void;
  readonly #queue: T[] = [];
  #waiting: { resolve(result: IteratorResult<T>): void; reject(error: Error): void } | undefined;
  #failure: Error | undefined;
  #done = false;

  constructor(wanted: (event: T) => boolean, closed: () => void) {
    this.#wanted = wanted;
    this.#closed = closed;
  }

  push(event: T): void {
    if (this.#done || !this.#wanted(event)) return;
    if (this.#waiting) this.#waiting.resolve({ value: event, done: false });
    else this.#queue.push(event);
    this.#waiting = undefined;
  }

  fail(error: Error): void {
    if (this.#waiting) this.#waiting.reject(error);
    else this.#failure = error;
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<T>> {
    const event = this.#queue.shift();
    if (event !== undefined) return Promise.resolve({ value: event, done: false });
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#done) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<T>> {
    if (!this.#done) {
      this.#done = true;
      this.#closed();
      this.#waiting?.resolve({ value: undefined, done: true });
    }
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return this;
  }
}
