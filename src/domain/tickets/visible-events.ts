import type { Followed } from '../../context.js';
import type { Event } from '../../entities/events/event.js';

type Answer = IteratorResult<Event, undefined>;

/** A feed without the events its consumer may not see. A hand-written iterator, so that `return()` frees at once. */
export class VisibleEvents implements Followed<Event> {
  readonly #events: Followed<Event>;
  readonly #isVisible: (event: Event) => Promise<boolean>;
  /** Answers keep the order of the feed, also when `next()` is called ahead. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(events: Followed<Event>, isVisible: (event: Event) => Promise<boolean>) {
    this.#events = events;
    this.#isVisible = isVisible;
  }

  next(): Promise<Answer> {
    const answer = this.#last.then(() => this.#nextVisible());
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async return(): Promise<Answer> {
    await this.#events.return?.();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<Answer> {
    await this.#events.return?.();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #nextVisible(): Promise<Answer> {
    for (;;) {
      const answer = await this.#events.next();
      if (answer.done || (await this.#isVisible(answer.value))) return answer;
    }
  }
}
