import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { EventFeed, WakeChannel } from '../context.js';
import { Event } from '../entities/events/event.js';
import { ORGANIZATION_FILTER } from '../entities/tenancy.js';
import { invalidField } from '../errors.js';
import { EventSubscription, type Stretch } from './event-subscription.js';
import { EVENTS_SEQUENCED } from './sequencer.js';

export interface OpenEventFeed extends EventFeed {
  /** Subscriptions now open on this node. */
  size(): number;
  close(): Promise<void>;
}

/** Ten batches: a bulk change is not a slow consumer. Buffers share their events, so one costs 80 kB when full. */
const DEFAULT_MAX_BUFFERED = 10_000;

/**
 * One reader per node follows the log and hands each event to the subscriptions of its organization. Numbers become
 * visible in order (src/events/sequencer.ts), so that "greater than the last" misses nothing.
 */
export async function createEventFeed(options: {
  orm: MikroORM;
  wake: WakeChannel;
  log: Logger;
  pollMs?: number;
  /** Rows read at a time. */
  batchSize?: number;
}): Promise<OpenEventFeed> {
  const { orm, wake, log, pollMs = 2_000, batchSize = 1_000 } = options;
  const byOrganization = new Map<string, Set<EventSubscription>>();
  let position = await lastNumber();
  let closed = false;
  let wanted = false;
  let running: Promise<void> | undefined;

  function run(): Promise<void> {
    wanted = true;
    running ??= readAll().finally(() => {
      running = undefined;
    });
    return running;
  }

  async function readAll(): Promise<void> {
    try {
      while (wanted && !closed) {
        wanted = false;
        if (byOrganization.size === 0) await skipUnheard();
        else if (await readOneBatch()) wanted = true;
      }
    } catch (error) {
      log.warn({ err: error }, 'events not read, trying again at the next poll');
    }
  }

  /** Nobody listened when the reading began; who came meanwhile starts at the position of then. */
  async function skipUnheard(): Promise<void> {
    const last = await lastNumber();
    if (byOrganization.size === 0) position = Math.max(position, last);
    else wanted = true;
  }

  /** Whether there may be more. */
  async function readOneBatch(): Promise<boolean> {
    const events = await find({ seq: { $gt: position } });
    for (const event of events) {
      position = event.seq ?? position;
      for (const subscription of byOrganization.get(event.organizationId) ?? []) subscription.push(event);
    }
    return events.length === batchSize;
  }

  async function readStretch(organizationId: string, after: number): Promise<Stretch> {
    if (after > position) await run();
    const upTo = position;
    if (after > upTo) throw invalidField('after', 'max', `after must not exceed ${upTo}, the newest event`);
    const events = await find({ organizationId, seq: { $gt: after, $lte: upTo } });
    const last = events.at(-1)?.seq ?? after;
    return { events, coveredTo: events.length === batchSize ? last : upTo };
  }

  /** Across organizations, therefore without the tenant filter; every subscription is bound to its own. */
  function find(where: { organizationId?: string; seq: { $gt: number; $lte?: number } }): Promise<Event[]> {
    return orm.em.fork().find(Event, where, {
      orderBy: { seq: 'asc' },
      limit: batchSize,
      filters: { [ORGANIZATION_FILTER]: false },
      disableIdentityMap: true,
    });
  }

  async function lastNumber(): Promise<number> {
    const [row] = await orm.em
      .fork()
      .execute<{ last: string | null }[]>('select max("seq") as "last" from "event"');
    return Number(row?.last ?? 0);
  }

  const stopListening = wake.on(EVENTS_SEQUENCED, () => void run());
  const poll = setInterval(() => void run(), pollMs);

  return {
    subscribe({ organizationId, after, accepts, maxBuffered = DEFAULT_MAX_BUFFERED }) {
      if (closed) throw new TypeError('the event feed is closed');
      const group = byOrganization.get(organizationId) ?? new Set();
      const subscription = new EventSubscription(
        {
          position: () => position,
          read: (from) => readStretch(organizationId, from),
          released: (released) => {
            group.delete(released);
            if (group.size === 0 && byOrganization.get(organizationId) === group)
              byOrganization.delete(organizationId);
          },
        },
        after ?? position,
        { accepts, maxBuffered },
      );
      byOrganization.set(organizationId, group.add(subscription));
      return subscription;
    },
    size: () => [...byOrganization.values()].reduce((sum, group) => sum + group.size, 0),
    async close() {
      closed = true;
      clearInterval(poll);
      stopListening();
      await running;
      for (const group of [...byOrganization.values()])
        for (const subscription of [...group]) await subscription.return();
    },
  };
}
