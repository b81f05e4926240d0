import type { Pool } from 'pg';
import type { Services } from '../../context.js';
import { newUuid } from '../../entities/ids.js';
import { EVENTS_SEQUENCED } from '../../events/sequencer.js';
import { createAttempts } from './attempt-delivery.js';
import { cancelLeftOver } from './cancel-deliveries.js';
import {
  type ClaimedDelivery,
  claimDeliveries,
  giveBack,
  LEASE_SECONDS,
  reclaimExpired,
  renewLeases,
  STRIDE,
  waitingWebhooks,
} from './claim-deliveries.js';
import { coalesced } from './coalesced.js';
import { queueDeliveries } from './queue-deliveries.js';
import { ReceiverShares } from './receiver-shares.js';
import type { Settlement } from './settle-deliveries.js';
import { createSettling } from './settling.js';
import { DELIVERIES_DUE, deliveriesTopic } from './topics.js';

export interface DeliveryWorker {
  /** Takes no more, gives the attempts under way `drainMs`, then gives them back to the other workers. */
  close(drainMs: number): Promise<void>;
}

export interface DeliveryWorkerOptions {
  services: Services;
  /** Of the role that sees all tenants. */
  pool: Pool;
  /** For retries that have come due, and for wakes that were lost. */
  pollMs?: number;
  /** After so long without a sign of life a worker's deliveries are others'. */
  leaseSeconds?: number;
}

/** Queues deliveries for the events of the log and makes their attempts; any number of processes may run one. */
export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { services, pool, pollMs = 1_000, leaseSeconds = LEASE_SECONDS } = options;
  const { now, wake } = services;
  const log = services.log.child({ room: 'webhooks' });
  const owner = newUuid();
  const shares = new ReceiverShares<ClaimedDelivery>();
  const attempts = createAttempts(services);
  const ending = new AbortController();
  const underWay = new Set<Promise<void>>();
  let cursor = '';
  let claimedThisTurn = 0;
  let closing = false;

  const later = (what: string) => (error: unknown) =>
    log.warn({ err: error }, `${what}, trying again at the next poll`);

  const settling = createSettling({
    services,
    pool,
    owner,
    log,
    onSettled: (settlements) => {
      for (const settlement of settlements) shares.end(settlement);
      for (const webhookId of shares.waiting()) begin(webhookId);
      claiming.run();
    },
  });

  const queueing = coalesced(async () => {
    const { webhookIds, more } = await queueDeliveries(pool, now);
    if (webhookIds.size > 0) wake.wake(DELIVERIES_DUE);
    for (const id of webhookIds) wake.wake(deliveriesTopic(id));
    return more;
  }, later('deliveries not queued'));

  /** One stride along the webhooks that wait. Whether the turn goes on. */
  const claiming = coalesced(async () => {
    if (!shares.hasPlaces()) return false;
    const waiting = await waitingWebhooks(pool, cursor, now());
    const last = waiting.length === STRIDE ? waiting.at(-1) : undefined;
    cursor = last?.webhookId ?? '';
    const left = waiting.filter(({ isActive }) => !isActive).map(({ webhookId }) => webhookId);
    const cancelled = left.length > 0 ? await cancelLeftOver(pool, left, now()) : 0;
    const due = waiting.filter(({ isActive, isDue }) => isActive && isDue);
    const claimed = await claim(due.map(({ webhookId }) => webhookId));
    claimedThisTurn += claimed + cancelled;
    if (last !== undefined) return true;
    const goesOn = claimedThisTurn > 0;
    claimedThisTurn = 0;
    return goesOn;
  }, later('deliveries not claimed'));

  async function claim(webhookIds: string[]): Promise<number> {
    const chosen = shares.choose(webhookIds);
    if (chosen.trusted.length + chosen.others.length === 0) return 0;
    const claimed = await claimDeliveries(pool, { ...chosen, owner, leaseSeconds, now: now() });
    for (const delivery of claimed) shares.add(delivery);
    for (const webhookId of new Set(claimed.map((delivery) => delivery.webhookId))) begin(webhookId);
    return claimed.length;
  }

  /** As many attempts as the receiver has places for. */
  function begin(webhookId: string): void {
    while (!ending.signal.aborted && !closing) {
      const delivery = shares.begin(webhookId);
      if (!delivery) return;
      attempt(delivery);
    }
  }

  function attempt(delivery: ClaimedDelivery): void {
    const made = attempts.make(delivery, ending.signal).then(finish, (error: unknown) => {
      // Interrupted, or ours to mend: its lease is not renewed, and it is taken up again.
      shares.end(delivery);
      if (!ending.signal.aborted) log.error({ err: error, deliveryId: delivery.id }, 'attempt broke down');
    });
    underWay.add(made);
    void made.finally(() => underWay.delete(made));
  }

  function finish(settlement: Settlement): void {
    shares.answered(settlement, settlement.status === 'delivered');
    settling.add(settlement);
    begin(settlement.webhookId);
  }

  async function keepLeases(): Promise<void> {
    await renewLeases(pool, shares.ids(), owner, leaseSeconds);
    const reclaimed = await reclaimExpired(pool, now());
    if (reclaimed === 0) return;
    log.info({ reclaimed }, 'deliveries of lost workers taken over');
    wake.wake(DELIVERIES_DUE);
  }

  const stopListening = [wake.on(EVENTS_SEQUENCED, queueing.run), wake.on(DELIVERIES_DUE, claiming.run)];
  const poll = setInterval(() => {
    queueing.run();
    claiming.run();
    settling.run();
  }, pollMs);
  const leases = setInterval(
    () => void keepLeases().catch(later('leases not renewed')),
    (leaseSeconds * 1000) / 3,
  );
  queueing.run();
  claiming.run();

  return {
    async close(drainMs) {
      closing = true;
      for (const stop of stopListening) stop();
      clearInterval(poll);
      await Promise.all([queueing.stop(), claiming.stop()]);
      const patience = setTimeout(() => ending.abort(new Error('the worker ends')), drainMs);
      await Promise.allSettled(underWay);
      clearTimeout(patience);
      clearInterval(leases);
      await settling.stop();
      await giveBack(pool, owner).catch(later('deliveries not given back'));
      wake.wake(DELIVERIES_DUE);
    },
  };
}
