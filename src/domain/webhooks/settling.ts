import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Services } from '../../context.js';
import { isDatabaseAway } from '../../database/connection-error.js';
import { coalesced } from './coalesced.js';
import { failDelivery } from './fail-delivery.js';
import { type Settlement, settleDeliveries } from './settle-deliveries.js';
import { deliveriesTopic } from './topics.js';

export interface Settling {
  add(settlement: Settlement): void;
  run(): void;
  /** After a last try to write what is there. */
  stop(): Promise<void>;
}

/** Written in one statement. */
const BATCH = 256;
/** Of a statement that the database refuses rather than misses: then the leases run out and the attempts are made again. */
const MAX_TRIES = 5;

/** What became of attempts, kept until the database has taken it: while one batch is written the next one gathers. */
export function createSettling(options: {
  services: Services;
  pool: Pool;
  owner: string;
  log: Logger;
  /** Written, or given up. */
  onSettled(settlements: readonly Settlement[]): void;
}): Settling {
  const { services, pool, owner, log, onSettled } = options;
  const waiting: Settlement[] = [];
  let tries = 0;

  async function step(): Promise<boolean> {
    const batch = waiting.slice(0, BATCH);
    if (batch.length === 0) return false;
    try {
      await write(batch);
    } catch (error) {
      tries += 1;
      if (isDatabaseAway(error) || tries < MAX_TRIES) throw error;
      log.error(
        { err: error, deliveries: batch.length },
        'deliveries not settled, their leases will run out',
      );
    }
    tries = 0;
    waiting.splice(0, batch.length);
    onSettled(batch);
    return waiting.length > 0;
  }

  /** Repeated after a failure, and then what was written already is not written again. */
  async function write(batch: Settlement[]): Promise<void> {
    const usual = batch.filter((settlement) => !isFinalFailure(settlement));
    if (usual.length > 0) await settleDeliveries(pool, owner, usual);
    for (const settlement of batch.filter(isFinalFailure)) await failDelivery(services, owner, settlement);
    for (const webhookId of new Set(usual.map((settlement) => settlement.webhookId)))
      services.wake.wake(deliveriesTopic(webhookId));
  }

  const writing = coalesced(step, (error) => log.warn({ err: error }, 'deliveries not settled yet'));

  return {
    add(settlement) {
      waiting.push(settlement);
      writing.run();
    },
    run: writing.run,
    async stop() {
      await writing.stop();
      while (waiting.length > 0) {
        try {
          await step();
        } catch (error) {
          log.warn({ err: error, deliveries: waiting.length }, 'deliveries not settled at the end');
          return;
        }
      }
    },
  };
}

/** What was never sent is nobody's failure. */
function isFinalFailure({ status, record }: Settlement): boolean {
  return status === 'failed' && record !== null;
}
