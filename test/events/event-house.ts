import { type Logger, pino } from 'pino';
import type { Followed, WakeChannel } from '../../src/context.js';
import type { Event } from '../../src/entities/events/event.js';
import { newId } from '../../src/entities/ids.js';
import { newEvent } from '../../src/events/catalogue.js';
import { transactional, type WritingContext } from '../../src/events/transaction.js';
import type { TestDatabase } from '../support/database.js';

export const silent: Logger = pino({ level: 'silent' });

/** Keeps what is logged, so that a test can say what an operator would have read. */
export function keptLog(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  return { log: pino({ level: 'trace' }, { write: (line) => void lines.push(JSON.parse(line)) }), lines };
}

export const deafChannel: WakeChannel = { wake: () => undefined, on: () => () => undefined };

export function writingContext(
  database: TestDatabase,
  wake: WakeChannel,
  log: Logger = silent,
): WritingContext {
  return { em: database.orm.em.fork(), log, services: { now: () => new Date(), wake } };
}

export function created(organizationId: string, title: string) {
  const id = newId('tkt');
  return newEvent('ticket.created', organizationId, {
    id,
    title,
    status: 'new',
    priority: 'low',
    type: 'task',
  });
}

export async function record(
  database: TestDatabase,
  wake: WakeChannel,
  organizationId: string,
  titles: string[],
): Promise<void> {
  await transactional(writingContext(database, wake), async (unit) => {
    for (const title of titles) unit.record(created(organizationId, title));
  });
}

export async function take(followed: Followed<Event>, count: number): Promise<Event[]> {
  const events: Event[] = [];
  while (events.length < count) {
    const answer = await followed.next();
    if (answer.done) throw new Error(`ended after ${events.length} of ${count} events`);
    events.push(answer.value);
  }
  return events;
}

export const titlesOf = (events: Event[]): unknown[] => events.map((event) => event.payload['title']);
