import { LRUCache } from 'lru-cache';

/** Deliveries a worker has under way, over all receivers: what bounds its memory and its sockets. */
export const MAX_UNDER_WAY = 512;
/** At one receiver that answers. */
const MAX_AT_TRUSTED = 64;
/** At one that has not answered well yet, or not the last time, or is silent just now. */
const MAX_AT_OTHERS = 2;
/** Such receivers never take the places of those that answer. */
const MAX_AT_ALL_OTHERS = MAX_UNDER_WAY / 2;
/** Deliveries taken from one receiver's queue before it is the next one's turn. */
export const QUANTUM = 24;
const SILENT_MS = 2_000;
const TRUSTED_REMEMBERED = 10_000;

/** How many deliveries each receiver may have under way on this worker, so that none can take what others need. */
export class ReceiverShares {
  readonly #underWay = new Map<string, Map<string, number>>();
  readonly #trusted = new LRUCache<string, true>({ max: TRUSTED_REMEMBERED });
  readonly #held = new Set<string>();

  hasPlaces(): boolean {
    return this.#held.size < MAX_UNDER_WAY;
  }

  /** Whether a whole turn is free at this receiver. */
  hasTurn(webhookId: string): boolean {
    return (this.#underWay.get(webhookId)?.size ?? 0) <= MAX_AT_TRUSTED - QUANTUM;
  }

  /** What is under way, or has ended and is not written yet. */
  ids(): string[] {
    return [...this.#held];
  }

  begin(webhookId: string, deliveryId: string): void {
    const begun = this.#underWay.get(webhookId) ?? new Map<string, number>();
    this.#underWay.set(webhookId, begun.set(deliveryId, performance.now()));
    this.#held.add(deliveryId);
  }

  /** Makes room at the receiver; the delivery is held until its outcome is written. */
  answered(webhookId: string, deliveryId: string, well: boolean): void {
    if (well) this.#trusted.set(webhookId, true);
    else this.#trusted.delete(webhookId);
    this.#leave(webhookId, deliveryId);
  }

  end(webhookId: string, deliveryId: string): void {
    this.#leave(webhookId, deliveryId);
    this.#held.delete(deliveryId);
  }

  #leave(webhookId: string, deliveryId: string): void {
    const begun = this.#underWay.get(webhookId);
    if (begun?.delete(deliveryId) && begun.size === 0) this.#underWay.delete(webhookId);
  }

  /** Whose turn it is: the first ones, as far as there are places. */
  choose(webhookIds: readonly string[]): { trusted: string[]; others: string[] } {
    const trusted: string[] = [];
    const others: string[] = [];
    let places = MAX_UNDER_WAY - this.#held.size;
    let othersPlaces = MAX_AT_ALL_OTHERS - this.#atOthers();
    for (const id of webhookIds) {
      const atIt = this.#underWay.get(id)?.size ?? 0;
      if (this.#isTrusted(id)) {
        if (places < QUANTUM || !this.hasTurn(id)) continue;
        trusted.push(id);
        places -= QUANTUM;
      } else if (places > 0 && othersPlaces > 0 && atIt < MAX_AT_OTHERS) {
        others.push(id);
        places -= 1;
        othersPlaces -= 1;
      }
    }
    return { trusted, others };
  }

  #atOthers(): number {
    let sum = 0;
    for (const [id, begun] of this.#underWay) if (!this.#isTrusted(id)) sum += begun.size;
    return sum;
  }

  #isTrusted(webhookId: string): boolean {
    if (!this.#trusted.has(webhookId)) return false;
    const [oldest] = this.#underWay.get(webhookId)?.values() ?? [];
    return oldest === undefined || performance.now() - oldest < SILENT_MS;
  }
}
