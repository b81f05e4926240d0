import type { Client } from 'pg';
import type { Logger } from 'pino';
import type { WakeChannel } from '../context.js';
import { createSteadyClient } from './steady-client.js';
import { EVENTS_RECORDED } from './transaction.js';

/** Topic woken after rows got their numbers; readers listen. */
export const EVENTS_SEQUENCED = 'events.sequenced';

export interface Sequencer {
  connected(): Promise<void>;
  healthy(): boolean;
  /** Ends after the batch in hand. */
  close(): Promise<void>;
}

/** Any number, as long as every node takes the same one: 'evts' in ASCII. */
const SEQUENCER_LOCK = 0x65767473;

/**
 * Both statements travel as one message, which PostgreSQL runs as one transaction: it commits at the end or not at all,
 * and a node that dies leaves nothing open. The lock makes batches commit one after the other, in the order of their
 * numbers; the second statement sees what the holder before committed, because each statement has its own snapshot.
 */
const numberBatch = (batchSize: number) => `
  SELECT pg_advisory_xact_lock(${SEQUENCER_LOCK});
  WITH batch AS MATERIALIZED (
    SELECT "id" FROM "event" WHERE "seq" IS NULL ORDER BY "position" LIMIT ${batchSize}
  ), numbered AS MATERIALIZED (
    SELECT "id", nextval('event_seq') AS "seq" FROM batch
  )
  UPDATE "event" SET "seq" = numbered."seq" FROM numbered WHERE "event"."id" = numbered."id"`;

/** Spares the lock on all nodes but the first one to be woken. */
const ANYTHING_LEFT = 'SELECT EXISTS (SELECT FROM "event" WHERE "seq" IS NULL) AS left';

/**
 * Numbers committed events, on a connection of its own. Any number of nodes may run one. Woken by each commit, and
 * every `pollMs` for the writer that was killed between its commit and its wake.
 */
export function createSequencer(options: {
  databaseUrl: string;
  wake: WakeChannel;
  log: Logger;
  pollMs?: number;
  /** Rows numbered in one transaction. */
  batchSize?: number;
}): Sequencer {
  const { databaseUrl, wake, log, pollMs = 2_000, batchSize = 1_000 } = options;
  const statement = numberBatch(batchSize);
  let closed = false;
  let wanted = false;
  let running: Promise<void> | undefined;

  function run(): void {
    wanted = true;
    if (closed) return;
    running ??= numberAll().finally(() => {
      running = undefined;
      if (wanted && client.current()) run();
    });
  }

  async function numberAll(): Promise<void> {
    while (wanted && !closed) {
      const connection = client.current();
      if (!connection) return;
      wanted = false;
      try {
        if (await numberOneBatch(connection)) wanted = true;
      } catch (error) {
        log.warn({ err: error }, 'events not numbered, trying again at the next poll');
        return;
      }
    }
  }

  /** Whether there may be more. */
  async function numberOneBatch(connection: Client): Promise<boolean> {
    const { rows } = await connection.query<{ left: boolean }>(ANYTHING_LEFT);
    if (!rows[0]?.left) return false;
    // A message of two statements answers with two results, which the types do not know.
    const results = (await connection.query(statement)) as unknown as { rowCount: number | null }[];
    const numbered = results[1]?.rowCount ?? 0;
    if (numbered > 0) wake.wake(EVENTS_SEQUENCED);
    return numbered === batchSize;
  }

  const client = createSteadyClient({ databaseUrl, name: 'opsgraph-sequencer', log, onConnected: run });
  const stopListening = wake.on(EVENTS_RECORDED, run);
  const poll = setInterval(run, pollMs);

  return {
    connected: client.connected,
    healthy: () => client.current() !== undefined,
    async close() {
      closed = true;
      clearInterval(poll);
      stopListening();
      await running;
      await client.close();
    },
  };
}
