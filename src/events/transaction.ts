import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestContext, Services } from '../context.js';
import { Event } from '../entities/events/event.js';
import { newId } from '../entities/ids.js';
import { eventProblem, type NewEvent } from './catalogue.js';

/** Topic woken after a commit that recorded events; the sequencer listens. */
export const EVENTS_RECORDED = 'events';

/** What a change needs of its context. */
export type WritingContext = Pick<RequestContext, 'em' | 'log'> & {
  services: Pick<Services, 'now' | 'wake'>;
};

export interface Unit {
  /** Starts empty: load here what is to be changed, so that a repeated attempt sees the present row. */
  em: EntityManager;
  /** The event is committed with the change, or not at all. */
  record(event: NewEvent): void;
  wakeAfterCommit(topic: string): void;
  /** Runs once, after the outermost commit. A failure is logged: the change already stands. */
  afterCommit(effect: () => void | Promise<void>): void;
}

interface OpenUnit extends Unit {
  events: NewEvent[];
  topics: Set<string>;
  effects: (() => void | Promise<void>)[];
}

const openUnits = new WeakMap<EntityManager, OpenUnit>();

/** serialization_failure and deadlock_detected: PostgreSQL asks for the whole transaction again. */
const REPEATABLE = new Set(['40001', '40P01']);
const MAX_ATTEMPTS = 4;

/**
 * One transaction for a change and the events that tell of it. `work` may run more than once. Called with a context
 * whose `em` is that of an open unit, it joins the unit: wakes and effects wait for the outermost commit.
 */
export async function transactional<T>(
  context: WritingContext,
  work: (unit: Unit) => Promise<T>,
): Promise<T> {
  const outer = openUnits.get(context.em);
  if (outer) return work(outer);
  if (context.em.isInTransaction())
    throw new TypeError(
      'transactional() cannot join a transaction it did not open: its commit is not known here',
    );
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptUnit(context, work);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isRepeatable(error)) throw error;
      context.log.info({ attempt, err: error }, 'transaction repeated');
      await pause(attempt);
    }
  }
}

async function attemptUnit<T>(context: WritingContext, work: (unit: Unit) => Promise<T>): Promise<T> {
  const { unit, result } = await context.em.transactional(
    async (em) => {
      const unit = openUnit(em);
      try {
        const result = await work(unit);
        await insertEvents(context, em, unit.events);
        return { unit, result };
      } finally {
        openUnits.delete(em);
      }
    },
    { clear: true },
  );
  await settle(context, unit);
  return result;
}

function openUnit(em: EntityManager): OpenUnit {
  const unit: OpenUnit = {
    em,
    events: [],
    topics: new Set(),
    effects: [],
    record: (event) => void unit.events.push(event),
    wakeAfterCommit: (topic) => void unit.topics.add(topic),
    afterCommit: (effect) => void unit.effects.push(effect),
  };
  openUnits.set(em, unit);
  return unit;
}

async function insertEvents(context: WritingContext, em: EntityManager, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const timestamp = context.services.now();
  const rows = events.map((event) => {
    const problem = eventProblem(event);
    if (problem !== undefined) reportMisfit(context, event, problem);
    return { id: newId('evt'), seq: null, timestamp, ...event };
  });
  await em.insertMany(Event, rows);
}

/** A mistake of ours: found by whoever develops; in production the change counts for more than the form of its event. */
function reportMisfit(context: WritingContext, event: NewEvent, problem: string): void {
  if (process.env['NODE_ENV'] !== 'production') throw new TypeError(problem);
  context.log.error({ subjectId: event.subjectId }, problem);
}

async function settle(context: WritingContext, unit: OpenUnit): Promise<void> {
  if (unit.events.length > 0) unit.topics.add(EVENTS_RECORDED);
  for (const topic of unit.topics) context.services.wake.wake(topic);
  const outcomes = await Promise.allSettled(unit.effects.map(async (effect) => effect()));
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      context.log.error({ err: outcome.reason }, 'effect after commit failed');
}

function isRepeatable(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause)
    if ('code' in current && typeof current.code === 'string' && REPEATABLE.has(current.code)) return true;
  return false;
}

/** 10-20 ms, 20-40 ms, 40-80 ms: two that collided should not collide again. */
function pause(attempt: number): Promise<void> {
  const milliseconds = 10 * 2 ** (attempt - 1) * (1 + Math.random());
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
