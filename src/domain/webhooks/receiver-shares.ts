import { LRUCache } from 'lru-cache';

/** Deliveries a worker has in hand, over all receivers: what bounds its memory and its sockets. */
export const MAX_IN_HAND = 512;
/** Under way at one receiver that answers. */
const MAX_AT_TRUSTED = 16;
/** At one that has not answered well yet, or not the last time, or is silent just now. */
const MAX_AT_OTHERS = 2;
/** Such receivers never take the places of those that answer. */
const MAX_AT_ALL_OTHERS = MAX_IN_HAND / 2;
/**
 * Outcomes that are not written yet: when a worker dies, these arrive twice, and the few that have arrived and are not
 * answered. In bench/webhooks-chaos.ts 64 for each of three receivers were 1.8 %.
 */
const MAX_UNWRITTEN = 32;
/** Taken from one receiver's queue before it is the next one's turn: few when many wait, more when that costs nobody. */
const MIN_QUANTUM = 16;
const MAX_QUANTUM = 128;
const SILENT_MS = 2_000;
const TRUSTED_REMEMBERED = 10_000;

interface Receiver<Delivery> {
  /** Claimed and not begun. */
  ready: Delivery[];
  /** Ids under way, the oldest first, and since when. */
  underWay: Map<string, number>;
  /** How many have answered and are not written yet. */
  unwritten: number;
}

export interface Chosen {
  trusted: string[];
  others: string[];
  /** How many of each trusted one. */
  quantum: number;
}

/** How many deliveries each receiver may have in hand on this worker, so that none can take what others need. */
export class ReceiverShares<Delivery extends { id: string; webhookId: string }> {
  readonly #receivers = new Map<string, Receiver<Delivery>>();
  readonly #trusted = new LRUCache<string, true>({ max: TRUSTED_REMEMBERED });
  /** Ids, from the claim until the outcome is written. */
  readonly #inHand = new Set<string>();
  /** Those of them that have answered. */
  readonly #unwritten = new Set<string>();

  hasPlaces(): boolean {
    return this.#inHand.size < MAX_IN_HAND;
  }

  /** What is claimed and not written yet. */
  ids(): string[] {
    return [...this.#inHand];
  }

  /** Receivers for which something is claimed and not begun. */
  waiting(): string[] {
    return [...this.#receivers].flatMap(([id, { ready }]) => (ready.length > 0 ? [id] : []));
  }

  /** What was claimed waits here until its receiver has a place. */
  add(delivery: Delivery): void {
    const receiver: Receiver<Delivery> = this.#receivers.get(delivery.webhookId) ?? {
      ready: [],
      underWay: new Map(),
      unwritten: 0,
    };
    this.#receivers.set(delivery.webhookId, receiver);
    receiver.ready.push(delivery);
    this.#inHand.add(delivery.id);
  }

  /** The next delivery that its receiver has a place for, and takes the place. */
  begin(webhookId: string): Delivery | undefined {
    const receiver = this.#receivers.get(webhookId);
    if (!receiver) return undefined;
    const most = this.#isTrusted(webhookId) ? MAX_AT_TRUSTED : MAX_AT_OTHERS;
    if (receiver.underWay.size >= most || this.#unwritten.size >= MAX_UNWRITTEN) return undefined;
    const delivery = receiver.ready.shift();
    if (delivery) receiver.underWay.set(delivery.id, performance.now());
    return delivery;
  }

  /** The receiver has its place again; the worker has it when the outcome is written. */
  answered({ webhookId, id }: Pick<Delivery, 'webhookId' | 'id'>, well: boolean): void {
    if (well) this.#trusted.set(webhookId, true);
    else this.#trusted.delete(webhookId);
    const receiver = this.#receivers.get(webhookId);
    if (!receiver?.underWay.delete(id)) return;
    receiver.unwritten += 1;
    this.#unwritten.add(id);
  }

  /** Written, or given up. */
  end({ webhookId, id }: Pick<Delivery, 'webhookId' | 'id'>): void {
    this.#inHand.delete(id);
    const receiver = this.#receivers.get(webhookId);
    if (!receiver) return;
    receiver.underWay.delete(id);
    if (this.#unwritten.delete(id)) receiver.unwritten -= 1;
    if (held(receiver) === 0) this.#receivers.delete(webhookId);
  }

  /** Whose turn it is: the first ones, as far as there are places. */
  choose(webhookIds: readonly string[]): Chosen {
    const trusted: string[] = [];
    const others: string[] = [];
    let places = MAX_IN_HAND - this.#inHand.size;
    let othersPlaces = MAX_AT_ALL_OTHERS - this.#atOthers();
    const quantum = quantumOf(webhookIds.length);
    for (const id of webhookIds) {
      const receiver = this.#receivers.get(id);
      if (this.#isTrusted(id)) {
        if (places < quantum || (receiver && receiver.ready.length >= quantum / 2)) continue;
        trusted.push(id);
        places -= quantum;
      } else if (places > 0 && othersPlaces > 0 && (!receiver || held(receiver) < MAX_AT_OTHERS)) {
        others.push(id);
        places -= 1;
        othersPlaces -= 1;
      }
    }
    return { trusted, others, quantum };
  }

  #atOthers(): number {
    let sum = 0;
    for (const [id, receiver] of this.#receivers) if (!this.#isTrusted(id)) sum += held(receiver);
    return sum;
  }

  #isTrusted(webhookId: string): boolean {
    if (!this.#trusted.has(webhookId)) return false;
    const [oldest] = this.#receivers.get(webhookId)?.underWay.values() ?? [];
    return oldest === undefined || performance.now() - oldest < SILENT_MS;
  }
}

function held({ ready, underWay, unwritten }: Receiver<unknown>): number {
  return ready.length + underWay.size + unwritten;
}

function quantumOf(waiting: number): number {
  const share = Math.floor(MAX_IN_HAND / 4 / Math.max(1, waiting));
  return Math.min(MAX_QUANTUM, Math.max(MIN_QUANTUM, share));
}
