import type { Logger } from 'pino';
import type { WakeChannel } from '../../src/context.js';
import { migrate } from '../../src/database/migrate.js';
import { createOrm } from '../../src/database/orm.js';
import { newEvent } from '../../src/events/catalogue.js';
import { createEventFeed } from '../../src/events/event-feed.js';
import { createSequencer } from '../../src/events/sequencer.js';
import { transactional } from '../../src/events/transaction.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';

const ORGANIZATION = 'org_bench';

export async function prepare(databaseUrl: string): Promise<void> {
  const orm = await createOrm({ databaseUrl, poolSize: 2 });
  await migrate(orm);
  await orm.close(true);
}

/** Numbering what the measurements before left behind is not to be measured. */
export async function clear(databaseUrl: string): Promise<void> {
  const orm = await createOrm({ databaseUrl, poolSize: 1 });
  await orm.em.fork().execute('truncate event');
  await orm.close(true);
}

/** What a process does about events: wakes, numbers, reads for one subscriber. */
export async function openNode(databaseUrl: string, log: Logger) {
  const orm = await createOrm({ databaseUrl, poolSize: 4, log });
  const wake = createWakeChannel({ databaseUrl, log });
  const sequencer = createSequencer({ databaseUrl, wake, log });
  await Promise.all([wake.connected(), sequencer.connected()]);
  const feed = await createEventFeed({ orm, wake, log });
  const followed = feed.subscribe({ organizationId: ORGANIZATION, accepts: () => true });
  return {
    orm,
    wake: wake as WakeChannel,
    followed,
    async close() {
      await feed.close();
      await sequencer.close();
      await wake.close();
      await orm.close(true);
    },
  };
}

/** Milliseconds from the beginning of a transaction on one node to its event in the hands of another. */
export async function deliveries(databaseUrl: string, log: Logger, count: number): Promise<number[]> {
  await clear(databaseUrl);
  const [here, there] = await Promise.all([openNode(databaseUrl, log), openNode(databaseUrl, log)]);
  const milliseconds: number[] = [];
  const services = { wake: here.wake, now: () => new Date() };
  const payload = {
    id: 'tkt_bench',
    title: 'measured',
    status: 'new',
    priority: 'low',
    type: 'task',
  } as const;
  for (let index = 0; index < count; index += 1) {
    const next = there.followed.next();
    const begun = performance.now();
    await transactional({ em: here.orm.em.fork(), log, services }, async (unit) =>
      unit.record(newEvent('ticket.created', ORGANIZATION, payload)),
    );
    await next;
    milliseconds.push(performance.now() - begun);
  }
  await Promise.all([here.close(), there.close()]);
  return milliseconds;
}
