/**
 * The events of a source, each turned into something else. Written by hand: an async generator that waits for its
 * source cannot be ended from outside, so unsubscribing would hang until the next event. Expects one `next()` at a
 * time, as `for await` calls it.
 */
export class MappedEvents<Event, Result> implements AsyncIterableIterator<Result> {
  readonly #source: AsyncIterator<Event>;
  readonly #map: (event: Event) => Promise<Result>;
  #ended = false;
  #endWaiting: (() => void) | undefined;

  constructor(source: AsyncIterator<Event>, map: (event: Event) => Promise<Result>) {
    this.#source = source;
    this.#map = map;
  }

  next(): Promise<IteratorResult<Result>> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#endWaiting = () => resolve({ done: true, value: undefined });
      this.#advance().then(resolve, reject);
    });
  }

  async return(): Promise<IteratorResult<Result>> {
    this.#ended = true;
    this.#endWaiting?.();
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #advance(): Promise<IteratorResult<Result>> {
    const step = await this.#source.next();
    if (step.done) {
      this.#ended = true;
      return { done: true, value: undefined };
    }
    return { done: false, value: await this.#map(step.value) };
  }
}
