import type { Followed } from '../context.js';
import type { Event } from '../entities/events/event.js';
import { conflict } from '../errors.js';

/** A stretch of one organization's log: what lies after `after`, and up to where that is everything there is. */
export interface Stretch {
  events: Event[];
  coveredTo: number;
}

export interface SubscriptionSource {
  /** Up to here the node's reader has handed events to live subscriptions. */
  position(): number;
  read(after: number): Promise<Stretch>;
  released(subscription: EventSubscription): void;
}

type Answer = IteratorResult<Event, undefined>;
interface Waiter {
  resolve(answer: Answer | Promise<Answer>): void;
  reject(error: unknown): void;
}

const DONE: Answer = { done: true, value: undefined };

/**
 * One consumer's way through the log. Behind the node's reader it reads the database, a stretch at a time and only when
 * asked; once it has caught up it is live and keeps what the reader hands over. A hand-written iterator: a generator
 * suspended in `await` never runs its `finally` when the consumer leaves.
 */
export class EventSubscription implements Followed<Event> {
  readonly #source: SubscriptionSource;
  readonly #accepts: (event: Event) => boolean;
  readonly #maxBuffered: number;
  readonly #buffer: Event[] = [];
  readonly #waiters: Waiter[] = [];
  /** Everything up to here was delivered, buffered or not accepted. */
  #covered: number;
  /** The last one handed to the consumer, or where it started. */
  #delivered: number;
  #live = false;
  #reading = false;
  #failure: unknown;
  #ended = false;

  constructor(
    source: SubscriptionSource,
    after: number,
    options: { accepts(event: Event): boolean; maxBuffered: number },
  ) {
    this.#source = source;
    this.#accepts = options.accepts;
    this.#maxBuffered = options.maxBuffered;
    this.#covered = after;
    this.#delivered = after;
  }

  /** From the node's reader, in order; ignored while behind, since the database is read instead. */
  push(event: Event): void {
    if (this.#live) this.#take([event]);
  }

  fail(error: unknown): void {
    if (this.#ended) return;
    this.#failure = error;
    this.#release();
    this.#settleWaiters();
  }

  next(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#settleWaiters();
    });
  }

  return(): Promise<Answer> {
    this.#release();
    this.#settleWaiters();
    return Promise.resolve(DONE);
  }

  throw(error: unknown): Promise<Answer> {
    this.#release();
    this.#settleWaiters();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #take(events: Event[]): void {
    for (const event of events) {
      if (this.#ended) return;
      this.#covered = event.seq ?? this.#covered;
      try {
        if (this.#accepts(event)) this.#buffer.push(event);
      } catch (error) {
        this.fail(error);
        return;
      }
    }
    this.#settleWaiters();
    if (this.#live && this.#buffer.length > this.#maxBuffered) this.fail(this.#tooSlow());
  }

  #settleWaiters(): void {
    while (this.#waiters.length > 0) {
      const event = this.#buffer.shift();
      if (!event && !this.#ended) {
        this.#readOn();
        return;
      }
      const waiter = this.#waiters.shift();
      if (event) {
        this.#delivered = event.seq ?? this.#delivered;
        waiter?.resolve({ done: false, value: event });
      } else if (this.#failure === undefined) {
        waiter?.resolve(DONE);
      } else {
        waiter?.reject(this.#failure);
        this.#failure = undefined;
      }
    }
  }

  /**
   * Goes live once the buffer is empty and everything the reader has seen is covered. The reader cannot move between
   * the comparison and the decision, so there is neither gap nor duplicate. Ahead of this node's reader (`after` came
   * from another node) the source is asked, which lets the reader catch up first.
   */
  #readOn(): void {
    if (this.#live || this.#reading) return;
    if (this.#covered === this.#source.position()) {
      this.#live = true;
      return;
    }
    this.#reading = true;
    this.#source.read(this.#covered).then(
      ({ events, coveredTo }) => {
        this.#take(events);
        this.#covered = Math.max(this.#covered, coveredTo);
        this.#reading = false;
        this.#settleWaiters();
      },
      (error) => {
        this.#reading = false;
        this.fail(error);
      },
    );
  }

  #tooSlow(): Error {
    return conflict('Events arrive faster than they are read; subscribe again after the last one seen', {
      reason: 'slowConsumer',
      resumeAfter: this.#delivered,
    });
  }

  #release(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#buffer.length = 0;
    this.#source.released(this);
  }
}
