import type { Followed } from '../../context.js';
import type { WebhookDelivery } from '../../entities/webhooks/webhook-delivery.js';

type Answer = IteratorResult<WebhookDelivery, undefined>;

/** Between two reads, however often it is woken. */
const READ_EVERY_MS = 100;
/** A wake may be lost. */
const POLL_MS = 2_000;

/**
 * What is new or different among the rows that `read` answers with, newest first, compared with those it answered with
 * before. A hand-written iterator, so that `return()` frees at once. Reads only while somebody waits.
 */
export class DeliveryChanges implements Followed<WebhookDelivery> {
  readonly #read: () => Promise<WebhookDelivery[]>;
  readonly #stopListening: () => void;
  readonly #poll: NodeJS.Timeout;
  readonly #ready: WebhookDelivery[] = [];
  readonly #waiters: PromiseWithResolvers<Answer>[] = [];
  #known = new Map<string, string>();
  #changed = false;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  #ended = false;

  constructor(read: () => Promise<WebhookDelivery[]>, listen: (changed: () => void) => () => void) {
    this.#read = read;
    const note = () => {
      this.#changed = true;
      this.#schedule();
    };
    this.#stopListening = listen(note);
    this.#poll = setInterval(note, POLL_MS);
  }

  /** Of what is there now only what still waits is news. */
  async begin(): Promise<void> {
    try {
      const rows = await this.#read();
      this.#known = statesOf(rows.filter(({ status }) => status !== 'pending'));
      this.#changed = true;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  next(): Promise<Answer> {
    const waiter = Promise.withResolvers<Answer>();
    this.#waiters.push(waiter);
    this.#settle();
    return waiter.promise;
  }

  async return(): Promise<Answer> {
    this.#end();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<Answer> {
    this.#end();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
  }

  #schedule(): void {
    if (this.#ended || !this.#changed || this.#waiters.length === 0 || this.#reading) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#readOn();
    }, READ_EVERY_MS);
  }

  async #readOn(): Promise<void> {
    this.#reading = true;
    this.#changed = false;
    try {
      const rows = await this.#read();
      const before = this.#known;
      this.#known = statesOf(rows);
      this.#ready.push(...rows.filter((row) => before.get(row.id) !== stateOf(row)).reverse());
    } catch (error) {
      this.#waiters.shift()?.reject(error);
      this.#end();
    }
    this.#reading = false;
    this.#settle();
  }

  #settle(): void {
    while (this.#waiters.length > 0) {
      const value = this.#ready.shift();
      if (!value && !this.#ended) {
        this.#schedule();
        return;
      }
      this.#waiters.shift()?.resolve(value ? { done: false, value } : { done: true, value: undefined });
    }
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#ready.length = 0;
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    this.#stopListening();
    this.#settle();
  }
}

function statesOf(rows: WebhookDelivery[]): Map<string, string> {
  return new Map(rows.map((row) => [row.id, stateOf(row)]));
}

/** An attempt that begins changes the number, one that ends its count of records. */
function stateOf({ status, attempt, attempts }: WebhookDelivery): string {
  return `${status} ${attempt} ${attempts.length}`;
}
