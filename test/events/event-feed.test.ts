import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/entities/ids.js';
import { createEventFeed, type OpenEventFeed } from '../../src/events/event-feed.js';
import { createSequencer, type Sequencer } from '../../src/events/sequencer.js';
import { createWakeChannel, type OpenWakeChannel } from '../../src/events/wake-channel.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { deafChannel, record, silent, take, titlesOf } from './event-house.js';

const everything = () => true;
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `event ${from + index}`);

describe('event feed', () => {
  let database: TestDatabase;
  let wake: OpenWakeChannel;
  let sequencer: Sequencer;
  let feed: OpenEventFeed;
  let organizationId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    wake = createWakeChannel({ databaseUrl: database.url, log: silent });
    sequencer = createSequencer({ databaseUrl: database.url, wake, log: silent });
    await Promise.all([wake.connected(), sequencer.connected()]);
    feed = await openFeed();
    organizationId = newId('org');
  });
  afterEach(async () => {
    await feed.close();
    await sequencer.close();
    await wake.close();
  });

  const openFeed = () => createEventFeed({ orm: database.orm, wake, log: silent, batchSize: 10 });

  /** A feed whose reader stands behind everything written so far, so that earlier events can only come by replay. */
  async function reopenFeed(): Promise<void> {
    await allNumbered();
    await feed.close();
    feed = await openFeed();
  }

  const write = (titles: string[], organization = organizationId) =>
    record(database, wake, organization, titles);

  async function lastNumber(): Promise<number> {
    const [row] = await database.orm.em.fork().execute('select coalesce(max(seq), 0)::int as n from event');
    return row?.n ?? 0;
  }

  async function allNumbered(): Promise<void> {
    await eventually(async () => {
      const [row] = await database.orm.em
        .fork()
        .execute('select exists (select from event where seq is null) as left');
      return row?.left === false;
    });
  }

  it('replays what came after a number, then goes on live, without gap or duplicate, beside writers', async () => {
    const after = await lastNumber();
    await write(numbered(35));
    await reopenFeed();
    const followed = feed.subscribe({ organizationId, after, accepts: everything });
    const writing = (async () => {
      for (let index = 35; index < 200; index += 1) await write([`event ${index}`]);
    })();
    const events = await take(followed, 200);
    await writing;
    expect(titlesOf(events)).toEqual(numbered(200));
    const numbers = events.map(({ seq }) => seq ?? 0);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    await followed.return?.();
  });

  it('without a number begins with what comes after the subscription', async () => {
    await write(['before']);
    await reopenFeed();
    const followed = feed.subscribe({ organizationId, accepts: everything });
    await write(['after']);
    expect(titlesOf(await take(followed, 1))).toEqual(['after']);
  });

  it('an event between subscribing and the first read is not lost', async () => {
    const idle = feed.subscribe({ organizationId, accepts: everything, maxBuffered: 1 });
    const awake = feed.subscribe({ organizationId, accepts: everything });
    await write(numbered(5));
    await take(awake, 5);
    expect(titlesOf(await take(idle, 5))).toEqual(numbered(5));
  });

  it('gives whole events', async () => {
    const followed = feed.subscribe({ organizationId, accepts: everything });
    const before = Date.now();
    await write(['whole']);
    const [event] = await take(followed, 1);
    expect(event).toMatchObject({ organizationId, type: 'ticket.created', payload: { title: 'whole' } });
    expect(event?.timestamp).toBeInstanceOf(Date);
    expect(event?.timestamp.getTime()).toBeGreaterThanOrEqual(before);
    expect(typeof event?.seq).toBe('number');
    expect(event?.constructor.name).toBe('Event');
  });

  it('keeps organizations apart, in replay and live', async () => {
    const other = newId('org');
    const after = await lastNumber();
    await write(['theirs, old'], other);
    await write(['mine, old']);
    await reopenFeed();
    const mine = feed.subscribe({ organizationId, after, accepts: everything });
    const theirs = feed.subscribe({ organizationId: other, after, accepts: everything });
    await Promise.all([take(mine, 1), take(theirs, 1)]).then(([a, b]) =>
      expect([titlesOf(a), titlesOf(b)]).toEqual([['mine, old'], ['theirs, old']]),
    );
    await write(['theirs, new'], other);
    await write(['mine, new']);
    expect(titlesOf(await take(mine, 1))).toEqual(['mine, new']);
    expect(titlesOf(await take(theirs, 1))).toEqual(['theirs, new']);
  });

  it('leaves out what is not accepted, and still gets past it', async () => {
    const after = await lastNumber();
    await write(numbered(40));
    await reopenFeed();
    const odd = feed.subscribe({
      organizationId,
      after,
      accepts: (event) => String(event.payload['title']).endsWith('9'),
    });
    expect(titlesOf(await take(odd, 4))).toEqual(['event 9', 'event 19', 'event 29', 'event 39']);
    await write(['event 40', 'event 49']);
    expect(titlesOf(await take(odd, 1))).toEqual(['event 49']);
  });

  it('a subscription whose filter throws ends with that error and harms no other', async () => {
    const broken = feed.subscribe({
      organizationId,
      accepts: () => {
        throw new Error('filter');
      },
    });
    const sound = feed.subscribe({ organizationId, accepts: everything });
    const [failed, arrived] = [broken.next(), take(sound, 1)];
    await write(['one']);
    await expect(failed).rejects.toThrow('filter');
    expect(titlesOf(await arrived)).toEqual(['one']);
    expect(feed.size()).toBe(1);
  });

  it('tells a slow consumer where to resume, and resuming there misses nothing', async () => {
    const after = await lastNumber();
    const slow = feed.subscribe({ organizationId, after, accepts: everything, maxBuffered: 20 });
    await write(numbered(2));
    const first = await take(slow, 2);
    const third = slow.next();
    await write(numbered(1, 2));
    await third;
    await write(numbered(30, 3));
    await eventually(() => feed.size() === 0);
    const failure = await slow.next().catch((error) => error);
    expect(failure).toMatchObject({ code: 'CONFLICT', details: { reason: 'slowConsumer' } });
    const resumeAfter = failure.details.resumeAfter as number;
    expect(resumeAfter).toBeGreaterThan(first[1]?.seq ?? 0);
    expect(await slow.next()).toEqual({ done: true, value: undefined });
    const resumed = feed.subscribe({ organizationId, after: resumeAfter, accepts: everything });
    expect(titlesOf(await take(resumed, 30))).toEqual(numbered(30, 3));
  });

  it('return() frees at once, also while next() waits', async () => {
    const followed = feed.subscribe({ organizationId, accepts: everything });
    const waiting = [followed.next(), followed.next()];
    expect(feed.size()).toBe(1);
    expect(await followed.return?.()).toEqual({ done: true, value: undefined });
    expect(feed.size()).toBe(0);
    expect(await Promise.all(waiting)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(await followed.next()).toEqual({ done: true, value: undefined });
  });

  it('leaving a for await loop frees it', async () => {
    const followed = feed.subscribe({ organizationId, accepts: everything });
    await write(['one', 'two']);
    for await (const event of followed) {
      expect(event.payload['title']).toBe('one');
      break;
    }
    expect(feed.size()).toBe(0);
  });

  it('answers next() calls in their order', async () => {
    const followed = feed.subscribe({ organizationId, accepts: everything });
    const answers = [followed.next(), followed.next(), followed.next()];
    await write(numbered(3));
    const events = (await Promise.all(answers)).flatMap((answer) => (answer.done ? [] : [answer.value]));
    expect(titlesOf(events)).toEqual(numbered(3));
  });

  it('takes a number this node has not read yet, and refuses one that nobody has given', async () => {
    const behind = await createEventFeed({ orm: database.orm, wake: deafChannel, log: silent, pollMs: 50 });
    try {
      await write(['elsewhere']);
      await allNumbered();
      const ahead = behind.subscribe({ organizationId, after: await lastNumber(), accepts: everything });
      const next = take(ahead, 1);
      await write(['afterwards']);
      expect(titlesOf(await next)).toEqual(['afterwards']);
      const never = behind.subscribe({
        organizationId,
        after: (await lastNumber()) + 1_000,
        accepts: everything,
      });
      await expect(never.next()).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'after', constraint: 'max' },
      });
      expect(behind.size()).toBe(1);
    } finally {
      await behind.close();
    }
  });

  it('reaches subscribers of another node', async () => {
    const otherWake = createWakeChannel({ databaseUrl: database.url, log: silent });
    await otherWake.connected();
    const other = await createEventFeed({ orm: database.orm, wake: otherWake, log: silent, pollMs: 60_000 });
    try {
      const followed = other.subscribe({ organizationId, accepts: everything });
      const started = performance.now();
      const next = take(followed, 1);
      await write(['across']);
      expect(titlesOf(await next)).toEqual(['across']);
      expect(performance.now() - started).toBeLessThan(2_000);
    } finally {
      await other.close();
      await otherWake.close();
    }
  });

  it('closing ends every subscription', async () => {
    const followed = feed.subscribe({ organizationId, accepts: everything });
    const waiting = followed.next();
    await feed.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(() => feed.subscribe({ organizationId, accepts: everything })).toThrow(TypeError);
  });
});
