import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WakeChannel } from '../../src/context.js';
import { Organization } from '../../src/entities/identity/organization.js';
import { newId } from '../../src/entities/ids.js';
import { ORGANIZATION_FILTER } from '../../src/entities/tenancy.js';
import { Ticket } from '../../src/entities/tickets/ticket.js';
import { type NewEvent, newEvent } from '../../src/events/catalogue.js';
import { transactional } from '../../src/events/transaction.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { created, keptLog, writingContext } from './event-house.js';

describe('transactional', () => {
  let database: TestDatabase;
  const woken: string[] = [];
  const wake: WakeChannel = { wake: (topic) => void woken.push(topic), on: () => () => undefined };

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  const organization = (slug: string): Organization =>
    Object.assign(new Organization(), { id: newId('org'), slug, name: slug, createdAt: new Date() });

  async function rows(sql: string, parameters: unknown[] = []): Promise<Record<string, unknown>[]> {
    return database.orm.em.fork().execute(sql, parameters);
  }

  it('commits a change and its events together, unnumbered, and wakes once after the commit', async () => {
    const context = writingContext(database, wake);
    const org = organization('together');
    woken.length = 0;
    const seenAtWake: unknown[] = [];
    await transactional(context, async (unit) => {
      unit.em.persist(org);
      unit.record(created(org.id, 'first'));
      unit.record(created(org.id, 'second'));
      unit.wakeAfterCommit('orders');
      unit.wakeAfterCommit('orders');
      unit.afterCommit(async () => {
        seenAtWake.push(...(await rows('select slug from organization where id = ?', [org.id])));
      });
      await unit.em.flush();
      expect(woken).toEqual([]);
    });
    expect(woken.sort()).toEqual(['events', 'orders']);
    expect(seenAtWake).toEqual([{ slug: 'together' }]);
    const events = await rows('select * from event where organization_id = ? order by position', [org.id]);
    expect(events).toMatchObject([
      { seq: null, type: 'ticket.created', payload: { title: 'first', status: 'new' } },
      { seq: null, type: 'ticket.created', payload: { title: 'second' } },
    ]);
    expect(events[0]?.['id']).toMatch(/^evt_[0-9a-z]{26}$/);
    expect(events[0]).toHaveProperty('payload.id', events[0]?.['subject_id']);
  });

  it('leaves neither row nor event nor wake behind when the work fails', async () => {
    const org = organization('undone');
    woken.length = 0;
    const effects: string[] = [];
    const attempt = transactional(writingContext(database, wake), async (unit) => {
      unit.em.persist(org);
      unit.record(created(org.id, 'never'));
      unit.afterCommit(() => void effects.push('never'));
      await unit.em.flush();
      throw new Error('changed my mind');
    });
    await expect(attempt).rejects.toThrow('changed my mind');
    expect(await rows('select 1 from organization where slug = ?', ['undone'])).toEqual([]);
    expect(await rows('select 1 from event where organization_id = ?', [org.id])).toEqual([]);
    expect([woken, effects]).toEqual([[], []]);
  });

  it('joins the unit of an outer call: effects wait for the outermost commit', async () => {
    const context = writingContext(database, wake);
    const org = organization('outer');
    woken.length = 0;
    const order: string[] = [];
    await transactional(context, async (outer) => {
      await transactional({ ...context, em: outer.em }, async (inner) => {
        inner.em.persist(org);
        inner.record(created(org.id, 'inner'));
        inner.afterCommit(() => void order.push('effect'));
      });
      order.push('inner done');
      expect(woken).toEqual([]);
    });
    expect(order).toEqual(['inner done', 'effect']);
    expect(await rows('select 1 from event where organization_id = ?', [org.id])).toHaveLength(1);

    const failing = transactional(context, async (outer) => {
      await transactional({ ...context, em: outer.em }, async (inner) => {
        inner.record(created(org.id, 'undone'));
        inner.afterCommit(() => void order.push('wrong'));
      });
      throw new Error('outer fails');
    });
    await expect(failing).rejects.toThrow('outer fails');
    expect(order).toEqual(['inner done', 'effect']);
    expect(await rows('select 1 from event where organization_id = ?', [org.id])).toHaveLength(1);
  });

  it('refuses to join a transaction it did not open', async () => {
    const context = writingContext(database, wake);
    const attempt = context.em.transactional((em) =>
      transactional({ ...context, em }, async () => undefined),
    );
    await expect(attempt).rejects.toThrow(TypeError);
  });

  it('repeats both sides of a deadlock until both changes stand, with each event once', async () => {
    const [a, b] = [organization('left'), organization('right')];
    await database.orm.em.fork().insertMany(Organization, [a, b]);
    let attempts = 0;
    const meeting = barrier(2);
    const rename = (first: Organization, second: Organization, name: string) =>
      transactional(writingContext(database, wake), async (unit) => {
        attempts += 1;
        await unit.em.nativeUpdate(Organization, { id: first.id }, { name });
        await meeting();
        await unit.em.nativeUpdate(Organization, { id: second.id }, { name });
        unit.record(created(first.id, name));
      });
    await Promise.all([rename(a, b, 'ab'), rename(b, a, 'ba')]);
    expect(attempts).toBe(3);
    const events = await rows('select payload from event where organization_id in (?, ?)', [a.id, b.id]);
    expect(events.map(({ payload }) => (payload as { title: string }).title).sort()).toEqual(['ab', 'ba']);
    const [left] = await rows('select name from organization where id = ?', [a.id]);
    const [right] = await rows('select name from organization where id = ?', [b.id]);
    expect(left).toEqual(right);
  });

  it('gives up after four attempts', async () => {
    let attempts = 0;
    const attempt = transactional(writingContext(database, wake), async (unit) => {
      attempts += 1;
      await unit.em.execute(`do $$ begin raise exception 'again' using errcode = '40001'; end $$`);
    });
    await expect(attempt).rejects.toMatchObject({ code: '40001' });
    expect(attempts).toBe(4);
  });

  it('lets the change stand when an effect fails, and says so in the log', async () => {
    const { log, lines } = keptLog();
    const effects: string[] = [];
    const result = await transactional(writingContext(database, wake, log), async (unit) => {
      unit.afterCommit(() => Promise.reject(new Error('mail server away')));
      unit.afterCommit(() => void effects.push('second'));
      return 'kept';
    });
    expect([result, effects]).toEqual(['kept', ['second']]);
    expect(lines).toMatchObject([{ level: 50, err: { message: 'mail server away' } }]);
  });

  it('keeps the tenant of its context', async () => {
    const [mine, theirs] = [newId('org'), newId('org')];
    const ticket = (organizationId: string) =>
      Object.assign(new Ticket(), {
        id: newId('tkt'),
        organizationId,
        number: 1,
        title: 'printer',
        status: 'new' as const,
        priority: 'low' as const,
        type: 'task' as const,
        source: 'api' as const,
        requesterId: newId('usr'),
        createdAt: new Date(),
        updatedAt: new Date(),
      });
    const em = database.orm.em.fork();
    em.setFilterParams(ORGANIZATION_FILTER, { organizationId: theirs });
    await em.persist([ticket(mine), ticket(theirs)]).flush();
    const context = writingContext(database, wake);
    context.em.setFilterParams(ORGANIZATION_FILTER, { organizationId: mine });
    const seen = await transactional(context, (unit) => unit.em.find(Ticket, {}));
    expect(seen.map(({ organizationId }) => organizationId)).toEqual([mine]);
  });

  it('refuses an event that does not fit the catalogue, naming the field and no value', async () => {
    const misfit = misfitOf(newId('org'));
    const attempt = transactional(writingContext(database, wake), async (unit) => unit.record(misfit));
    await expect(attempt).rejects.toThrow(/^ticket\.created does not fit the catalogue: status: /);
    await expect(attempt).rejects.not.toThrow(/hunter2/);
    expect(await rows('select 1 from event where organization_id = ?', [misfit.organizationId])).toEqual([]);
  });

  it('only logs it in production', async () => {
    const misfit = misfitOf(newId('org'));
    const { log, lines } = keptLog();
    const before = process.env['NODE_ENV'];
    process.env['NODE_ENV'] = 'production';
    try {
      await transactional(writingContext(database, wake, log), async (unit) => unit.record(misfit));
    } finally {
      process.env['NODE_ENV'] = before;
    }
    expect(lines).toMatchObject([{ level: 50, msg: expect.stringContaining('status: ') }]);
    expect(await rows('select 1 from event where organization_id = ?', [misfit.organizationId])).toHaveLength(
      1,
    );
  });
});

function misfitOf(organizationId: string): NewEvent {
  const payload = { id: newId('tkt'), title: 'x', status: 'hunter2', priority: 'low', type: 'task' };
  return newEvent('ticket.created', organizationId, payload as never);
}

/** Holds everybody until `count` have come; later ones pass. */
function barrier(count: number): () => Promise<void> {
  let arrived = 0;
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    arrived += 1;
    if (arrived >= count) open();
    return opened;
  };
}
