import { LRUCache } from 'lru-cache';

/** Deliveries a worker has under way, over all receivers: what bounds its memory and its sockets. */
export const MAX_UNDER_WAY = 512;
/**
 * At one receiver that answers, until the outcome is written: whatever of them arrived before a worker dies arrives twice.
 * With 64 and places freed by the answer, 2.3 % did in bench/webhooks-chaos.ts; so, 0.5 %.
 */
const MAX_AT_TRUSTED = 32;
/** At one that has not answered well yet, or not the last time, or is silent just now. */
const MAX_AT_OTHERS = 2;
/** Such receivers never take the places of those that answer. */
const MAX_AT_ALL_OTHERS = MAX_UNDER_WAY / 2;
/** Deliveries taken from one receiver's queue before it is the next one's turn. */
export const QUANTUM = 16;
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

  /** What is under way, or has ended and is not written yet. */
  ids(): string[] {
    return [...this.#held];
  }

  begin(webhookId: string, deliveryId: string): void {
    const begun = this.#underWay.get(webhookId) ?? new Map<string, number>();
    this.#underWay.set(webhookId, begun.set(deliveryId, performance.now()));
    this.#held.add(deliveryId);
  }

  answered(webhookId: string, well: boolean): void {
    if (well) this.#trusted.set(webhookId, true);
    else this.#trusted.delete(webhookId);
  }

  end(webhookId: string, deliveryId: string): void {
    const begun = this.#underWay.get(webhookId);
    if (begun?.delete(deliveryId) && begun.size === 0) this.#underWay.delete(webhookId);
    this.#held.delete(deliveryId);
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
        if (places < QUANTUM || atIt > MAX_AT_TRUSTED - QUANTUM) continue;
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
